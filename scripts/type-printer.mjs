// Prints the structure of a type. Prints only exported types and types of the platform by their names.
import ts from "typescript";

/** Maximum depth of a printed type. A deeper type is recursive. */
const deepestNesting = 20;

/**
 * Returns the printer. `exported` contains the symbols that are printed by their names. The printer prints the exported union `own`
 * completely.
 */
export function typePrinter(program, exported) {
  const checker = program.getTypeChecker();
  const unions = new Map(
    exported.flatMap((symbol) => {
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      return type.isUnion() ? [[symbol.name, type.types]] : [];
    }),
  );

  return (type, own) => new TypePrinter({ checker, isNamed, unions: new Map([...unions].filter(([name]) => name !== own)) }).print(type);

  function isNamed({ symbol }) {
    if (symbol === undefined || !(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))) return false;
    return exported.includes(symbol) || symbol.declarations.some((declaration) => isOfPlatform(declaration.getSourceFile()));
  }

  function isOfPlatform(file) {
    return program.isSourceFileDefaultLibrary(file) || file.fileName.includes("/node_modules/@types/node/");
  }
}

class TypePrinter {
  #checker;
  #isNamed;
  #unions;
  #depth = 0;

  constructor({ checker, isNamed, unions }) {
    this.#checker = checker;
    this.#isNamed = isNamed;
    this.#unions = unions;
  }

  print(type) {
    if (this.#depth > deepestNesting) throw new Error(`nested deeper than ${deepestNesting}: ${this.#checker.typeToString(type)}`);
    this.#depth++;
    const text = this.#printAny(type);
    this.#depth--;
    return text;
  }

  #printAny(type) {
    if (type.flags & ts.TypeFlags.Boolean) return "boolean";
    if (type.isUnion()) return this.#printUnion(type.types);
    if (this.#checker.isArrayType(type)) return this.#printArray(type);
    if (this.#checker.isTupleType(type)) throw new Error(`tuples are not supported: ${this.#checker.typeToString(type)}`);
    if (this.#isNamed(type)) return this.#printNamed(type);
    if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.#printObject(type);
    return this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }

  #printUnion(types) {
    let rest = types;
    const names = [];
    for (const [name, members] of this.#unions) {
      if (!members.every((member) => rest.includes(member))) continue;
      names.push(name);
      rest = rest.filter((type) => !members.includes(type));
    }
    const parts = rest.map((type) => (this.#isFunction(type) ? `(${this.print(type)})` : this.print(type)));
    // The compiler represents `boolean` as a union of two types.
    const isBoolean = parts.includes("true") && parts.includes("false");
    const distinct = isBoolean ? [...parts.filter((part) => part !== "true" && part !== "false"), "boolean"] : parts;
    return [...names, ...distinct].toSorted((one, other) => Number(one === "undefined") - Number(other === "undefined")).join(" | ");
  }

  #printArray(type) {
    const [element] = this.#checker.getTypeArguments(type);
    return `${type.symbol.name}<${this.print(element)}>`;
  }

  #printNamed(type) {
    const typeArguments = type.objectFlags & ts.ObjectFlags.Reference ? this.#checker.getTypeArguments(type) : [];
    return `${type.symbol.name}${typeArguments.length > 0 ? `<${typeArguments.map((one) => this.print(one)).join(", ")}>` : ""}`;
  }

  #printObject(type) {
    const signatures = type.getCallSignatures();
    if (this.#isFunction(type)) return this.#printSignature(signatures[0], " => ");
    const members = [
      ...signatures.map((signature) => this.#printSignature(signature, ": ")),
      ...this.#checker.getIndexInfosOfType(type).map((info) => `[key: ${this.print(info.keyType)}]: ${this.print(info.type)}`),
      ...this.#checker.getPropertiesOfType(type).map((property) => {
        const mark = property.flags & ts.SymbolFlags.Optional ? "?" : "";
        return `${propertyName(property.name)}${mark}: ${this.print(this.#checker.getTypeOfSymbol(property))}`;
      }),
    ];
    return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  }

  #printSignature(signature, arrow) {
    const parameters = signature.getParameters().map((parameter) => {
      const mark = this.#checker.isOptionalParameter(parameter.valueDeclaration) ? "?" : "";
      return `${parameter.name}${mark}: ${this.print(this.#checker.getTypeOfSymbol(parameter))}`;
    });
    return `(${parameters.join(", ")})${arrow}${this.print(signature.getReturnType())}`;
  }

  #isFunction(type) {
    return type.getCallSignatures().length === 1 && this.#checker.getPropertiesOfType(type).length === 0;
  }
}

function propertyName(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
