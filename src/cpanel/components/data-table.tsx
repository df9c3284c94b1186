import { memo, useMemo, useState, type ReactNode } from "react";
import { Button } from "./button.js";
import { useVisibleRows } from "./use-visible-rows.js";
import "./data-table.css";

/**
 * Number of rows that the table shows at first. Each press of `Show more` adds the same number. Rendering thousands of rows at once blocks
 * typing.
 */
const rowsAtOnce = 100;
/** Number of rows above which a table with `rowHeightPx` renders only the visible rows. */
const mostRendered = 200;

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Returns the value by which the column sorts a row. A column without this function is not sortable. */
  readonly sortBy?: (row: Row) => string | number;
  /** Minimum page width at which the column is visible: 720 px for `wide`, 1080 px for `widest`. */
  readonly shownFrom?: "wide" | "widest";
  readonly isNumeric?: boolean;
  /** Whether the cells of the column are row headers. If no column sets this field, the cells of the first column are row headers. */
  readonly isRowHeader?: boolean;
  /** Whether the column contains the buttons of a row. The title of such a column is visible to screen readers only. */
  readonly isActions?: boolean;
}

export interface DataTableProps<Row> {
  /** Caption of the table for screen readers. */
  readonly caption: string;
  /** Columns from left to right. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly sortedBy?: { readonly id: string; readonly isDescending: boolean };
  /**
   * Height of each row in pixels. If set, the table has no `Show more` button, and renders only the visible rows if it has more than 200
   * rows.
   */
  readonly rowHeightPx?: number;
  /** Whether pages below 720 px show the other cells of a row in a line below its name. Default: false. */
  readonly isStacked?: boolean;
}

/** A sortable table. Without `rowHeightPx`, renders 100 rows at first, and up to 100 more for each press of `Show more`. */
export function DataTable<Row>({ caption, columns, rows, keyOf, sortedBy, rowHeightPx, isStacked = false }: DataTableProps<Row>) {
  const [order, setOrder] = useState(sortedBy);
  const [limit, setLimit] = useState(rowsAtOnce);
  const sorted = useMemo(
    () => sort(rows, columns.find(({ id }) => id === order?.id)?.sortBy, order?.isDescending ?? false),
    [rows, columns, order],
  );
  const listed = rowHeightPx === undefined ? sorted.slice(0, limit) : sorted;
  const virtualHeightPx = listed.length > mostRendered ? rowHeightPx : undefined;
  const { body, first, end } = useVisibleRows(listed.length, virtualHeightPx);
  const rendered = virtualHeightPx === undefined ? listed : listed.slice(first, end);
  return (
    <div className={`data-table${rowHeightPx === undefined ? "" : " data-table-fixed"}${isStacked ? " data-table-stacked" : ""}`}>
      <table {...(virtualHeightPx === undefined ? {} : { "aria-rowcount": listed.length + 1 })}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeadCell key={column.id} column={column} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space rows={virtualHeightPx === undefined ? 0 : first} rowHeightPx={virtualHeightPx} />
          {rendered.map((row, index) => (
            <BodyRow
              key={keyOf(row)}
              row={row}
              columns={columns}
              position={virtualHeightPx === undefined ? undefined : first + index + 2}
            />
          ))}
          <Space rows={virtualHeightPx === undefined ? 0 : listed.length - end} rowHeightPx={virtualHeightPx} />
        </tbody>
      </table>
      {listed.length < sorted.length && (
        <div className="data-table-more">
          <span className="quiet">{(sorted.length - listed.length).toLocaleString("en-GB")} more</span>
          <Button onPress={() => setLimit(limit + rowsAtOnce)}>Show {Math.min(rowsAtOnce, sorted.length - listed.length)} more</Button>
        </div>
      )}
    </div>
  );
}

type Order = { readonly id: string; readonly isDescending: boolean } | undefined;

function HeadCell<Row>({ column, order, onOrder }: { column: Column<Row>; order: Order; onOrder: (order: Order) => void }) {
  const { id, title } = column;
  const isSorted = order?.id === id;
  const direction = isSorted && order.isDescending ? "descending" : "ascending";
  return (
    <th scope="col" className={classOf(column)} {...(isSorted ? { "aria-sort": direction } : {})}>
      {column.sortBy ? (
        <button type="button" className="data-table-sort" onClick={() => onOrder({ id, isDescending: isSorted && !order.isDescending })}>
          {title}
          <span aria-hidden="true" className="data-table-arrow">
            {isSorted ? (order.isDescending ? "↓" : "↑") : ""}
          </span>
        </button>
      ) : (
        <span className={column.isActions ? "visually-hidden" : undefined}>{title}</span>
      )}
    </th>
  );
}

/** Fills the space of the rows that the table does not render. */
function Space({ rows, rowHeightPx = 0 }: { rows: number; rowHeightPx: number | undefined }) {
  if (rows === 0) return null;
  return (
    <tr aria-hidden="true" className="data-table-space">
      <td style={{ height: rows * rowHeightPx }} />
    </tr>
  );
}

interface BodyRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Number of the row in the whole table. The heading is row 1. Undefined if all rows are rendered. */
  readonly position: number | undefined;
}

/** A row that React renders again only if its data, its position or the columns change. Scrolling thus renders only new rows. */
const BodyRow = memo(RenderedRow) as typeof RenderedRow;

function RenderedRow<Row>({ row, columns, position }: BodyRowProps<Row>) {
  const header = columns.find(({ isRowHeader }) => isRowHeader) ?? columns[0];
  return (
    <tr {...(position === undefined ? {} : { "aria-rowindex": position })}>
      {columns.map((column) =>
        column === header ? (
          <th key={column.id} scope="row" className={classOf(column)}>
            {column.cell(row)}
          </th>
        ) : (
          <td key={column.id} className={classOf(column)}>
            {column.cell(row)}
          </td>
        ),
      )}
    </tr>
  );
}

function classOf<Row>({ id, shownFrom, isNumeric, isActions }: Column<Row>): string {
  return [`column-${id}`, shownFrom && `from-${shownFrom}`, isNumeric && "numeric", isActions && "actions"].filter(Boolean).join(" ");
}

function sort<Row>(rows: readonly Row[], by: Column<Row>["sortBy"], isDescending: boolean): readonly Row[] {
  if (!by) return rows;
  const sign = isDescending ? -1 : 1;
  // Computes the sort value of each row once, because sorting thousands of rows compares each row about a dozen times.
  const valued = rows.map((row) => ({ row, value: by(row) }));
  valued.sort(({ value: a }, { value: b }) => {
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);
  });
  return valued.map(({ row }) => row);
}
