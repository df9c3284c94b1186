import { Component, type ReactNode } from "react";
import { Button } from "../components/button.js";
import { ErrorMessage } from "../components/error-message.js";
import { PageHeading } from "../components/page-heading.js";

interface BoundaryProps {
  /** Whether no layout surrounds the section. */
  readonly isWholePage?: boolean;
  readonly children: ReactNode;
}

interface State {
  readonly error: unknown;
}

/** Shows the error if a section fails to load or render. The navigation remains usable. */
export class SectionBoundary extends Component<BoundaryProps, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const page = (
      <>
        <PageHeading title="This page failed" />
        <ErrorMessage title="The panel failed, or was updated while it was open" error={error}>
          <Button onPress={() => location.reload()}>Load the panel again</Button>
        </ErrorMessage>
      </>
    );
    return this.props.isWholePage === true ? <main className="shell-main">{page}</main> : page;
  }
}
