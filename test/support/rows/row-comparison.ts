import ts from 'typescript';
import { IDENTIFYING_COLUMNS, type RecordedRows } from './recorder.js';
import type { ValueShape, ValueKind } from './shape.js';

const { TypeFlags } = ts;

const ANYTHING = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.TypeParameter;

const KINDS_OF_FLAGS: readonly (readonly [ts.TypeFlags, ValueKind])[] = [
  [TypeFlags.Null, 'null'],
  [TypeFlags.StringLike, 'string'],
  [TypeFlags.NumberLike, 'number'],
  [TypeFlags.BooleanLike, 'boolean'],
];

/** Compares the shapes of rows with a type, and collects what does not fit. */
export class RowComparison {
  readonly problems: string[] = [];

  constructor(private readonly checker: ts.TypeChecker) {}

  /**
   * Rows without an identifying column are compared with the parts of the type that may lack it, and the other rows
   * with the other parts.
   */
  compareRows(callSite: string, type: ts.Type, recorded: Readonly<RecordedRows>): void {
    const parts = this.listParts(type);
    const isOpen = this.hasParameter(type);
    const identified = parts.filter((part) => !IDENTIFYING_COLUMNS.some((column) => this.isNull(part, column)));
    const { [callSite]: rows } = recorded;
    if (rows) this.compareRow(callSite, identified, rows, isOpen);
    for (const column of IDENTIFYING_COLUMNS) {
      const { [`${callSite} without ${column}`]: rest } = recorded;
      if (!rest) continue;
      const alone = parts.filter((part) => this.isNull(part, column));
      // The other columns of such a row are null, whether or not the type mentions them.
      this.compareRow(callSite, alone.length > 0 ? alone : parts, rest, isOpen || alone.length > 0);
    }
  }

  private compareRow(callSite: string, parts: readonly ts.Type[], shape: ValueShape, isOpen: boolean): void {
    const isKnown = (column: string): boolean => parts.some((part) => this.findMember(part, column) !== undefined);
    if (!isOpen)
      for (const column of Object.keys(shape.members))
        if (!isKnown(column)) this.problems.push(`${callSite} ${column}: is not in the type`);
    this.compareMembers(`${callSite} `, parts, shape);
  }

  private compare(path: string, types: readonly ts.Type[], shape: ValueShape): void {
    const parts = types.flatMap((type) => this.listParts(type));
    if (parts.some(({ flags }) => flags & ANYTHING)) return;
    const described = parts.map((type) => this.checker.typeToString(type)).join(' | ');
    for (const kind of shape.kinds)
      if (!parts.some((type) => this.kindOf(type) === kind))
        this.problems.push(`${path}: has values of the kind ${kind}, but the type is ${described}`);
    const texts = parts.filter((type) => this.kindOf(type) === 'string');
    const literals = texts.flatMap((type) => (type.isStringLiteral() ? [type.value] : []));
    if (literals.length > 0 && literals.length === texts.length)
      for (const text of shape.texts ?? [])
        if (!literals.includes(text)) this.problems.push(`${path}: is '${text}', but the type is ${described}`);
    const arrays = parts.filter((type) => this.kindOf(type) === 'array');
    const elements = arrays.flatMap((type) => this.checker.getTypeArguments(type as ts.TypeReference));
    if (shape.elements && arrays.length > 0) this.compare(`${path}[]`, elements, shape.elements);
    const objects = parts.filter((type) => this.kindOf(type) === 'object');
    if (shape.kinds.includes('object') && objects.length > 0) this.compareMembers(`${path}.`, objects, shape);
  }

  /** Members that the type does not mention are not read, so they are let pass here. */
  private compareMembers(path: string, objects: readonly ts.Type[], shape: ValueShape): void {
    for (const [name, member] of Object.entries(shape.members)) {
      const memberTypes = objects.flatMap((type) => this.findMember(type, name) ?? []);
      if (memberTypes.length === 0) continue;
      // Where a part of a union lacks the member, the code must distinguish the parts before it reads the member.
      const isSure = memberTypes.length === objects.length;
      const kinds = isSure ? member.kinds : member.kinds.filter((kind) => kind !== 'null');
      this.compare(path + name, memberTypes, { ...member, kinds });
      if (isSure && shape.optional.includes(name) && !memberTypes.some((type) => this.canBeAbsent(type)))
        this.problems.push(`${path}${name}: is missing in some values, but not optional in the type`);
    }
    const [first] = objects;
    for (const { name } of first ? this.checker.getPropertiesOfType(first) : []) {
      const memberTypes = objects.flatMap((type) => this.findMember(type, name) ?? []);
      if (Object.hasOwn(shape.members, name) || memberTypes.length < objects.length) continue;
      if (!memberTypes.some((type) => this.canBeAbsent(type)))
        this.problems.push(`${path}${name}: is in the type, but not in the values`);
    }
  }

  /** The type of the member, with `undefined` if it is optional. */
  private findMember(type: ts.Type, name: string): ts.Type | undefined {
    const property = this.checker.getPropertyOfType(type, name);
    const declared = property
      ? this.checker.getTypeOfSymbol(property)
      : this.checker.getIndexTypeOfType(type, ts.IndexKind.String);
    const isOptional = !property || property.flags & ts.SymbolFlags.Optional;
    return declared && isOptional ? this.checker.getNullableType(declared, TypeFlags.Undefined) : declared;
  }

  private canBeAbsent(type: ts.Type): boolean {
    return this.listParts(type).some(({ flags }) => flags & (ANYTHING | TypeFlags.Undefined));
  }

  private isNull(type: ts.Type, column: string): boolean {
    const member = this.findMember(type, column);
    return member !== undefined && (member.flags & TypeFlags.Null) !== 0;
  }

  /** Whether the type depends on a type parameter. What that adds is not known here. */
  private hasParameter(type: ts.Type): boolean {
    if (type.isUnionOrIntersection()) return type.types.some((part) => this.hasParameter(part));
    return (type.flags & TypeFlags.Instantiable) !== 0;
  }

  private listParts(type: ts.Type): readonly ts.Type[] {
    if (this.hasParameter(type) && !(type.flags & TypeFlags.StringLike)) {
      const constraint = this.checker.getBaseConstraintOfType(type);
      return constraint && constraint !== type ? this.listParts(constraint) : [type];
    }
    if (type.isUnion()) return type.types.flatMap((part) => this.listParts(part));
    return [type];
  }

  private kindOf(type: ts.Type): ValueKind {
    const kindOfFlag = KINDS_OF_FLAGS.find(([flag]) => type.flags & flag);
    if (kindOfFlag) return kindOfFlag[1];
    // A primitive with a brand.
    if (type.isIntersection()) {
      const kinds = type.types.map((part) => this.kindOf(part));
      return kinds.find((kind) => kind !== 'object') ?? 'object';
    }
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) return 'array';
    return type.symbol?.name === 'Buffer' ? 'bytes' : 'object';
  }
}
