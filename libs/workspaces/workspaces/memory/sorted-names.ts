/** A page of a sorted list, and the number of entries on all pages. */
export type NamePage = { readonly ids: readonly string[]; readonly total: number };

type NameQuery = {
  /** Part of the names, in any case; null for all. */
  readonly fragment: string | null;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
};

/** Names in order, with their ids. Texts take a fifth of the memory of arrays with a string for each entry. */
type NameBlock = {
  readonly count: number;
  readonly first: string;
  /** Separated by line feeds, with one at the end. */
  readonly names: string;
  /** The names in lower case. */
  readonly folded: string;
  readonly ids: string;
};

const MAX_BLOCK = 512;
const END = '\n';
/** Estimated bytes of a block besides its texts. */
const BLOCK_BYTES = 200;

/** The names that `NAME_RULE` accepts. For others Postgres has another order, or other lower case letters. */
const SIMPLE = /^[\w-]+$/;

const toLines = (text: string): string[] => text.slice(0, -1).split(END);
const toText = (lines: readonly string[]): string => lines.join(END) + END;

const createBlock = (names: readonly string[], ids: readonly string[]): NameBlock => {
  const text = toText(names);
  const folded = text.toLowerCase();
  return {
    count: names.length,
    first: names[0] ?? '',
    names: text,
    folded: folded === text ? text : folded,
    ids: toText(ids),
  };
};

const createBlocks = (names: readonly string[], ids: readonly string[]): readonly NameBlock[] => {
  const size = names.length > MAX_BLOCK ? MAX_BLOCK / 2 : MAX_BLOCK;
  return Array.from({ length: Math.ceil(names.length / size) }, (_, n) =>
    createBlock(names.slice(n * size, (n + 1) * size), ids.slice(n * size, (n + 1) * size)),
  );
};

const countMatches = ({ count, folded }: NameBlock, fragment: string | null): number => {
  if (fragment === null) return count;
  let matches = 0;
  let at = folded.indexOf(fragment);
  while (at !== -1) {
    matches += 1;
    at = folded.indexOf(fragment, folded.indexOf(END, at));
  }
  return matches;
};

const listMatches = ({ folded, ids }: NameBlock, fragment: string | null): string[] => {
  const all = toLines(ids);
  if (fragment === null) return all;
  const names = toLines(folded);
  return all.filter((_, n) => names[n]?.includes(fragment));
};

/** The names of an organization in the order of Postgres (collation C), with the ids of what they name. */
export class SortedNames {
  private constructor(private blocks: readonly NameBlock[]) {}

  /** `names` and `ids` are sorted by name. Returns null for names with other characters than letters, digits, - and _. */
  static create(names: readonly string[], ids: readonly string[]): SortedNames | null {
    return names.every((name) => SIMPLE.test(name)) ? new SortedNames(createBlocks(names, ids)) : null;
  }

  get count(): number {
    return this.blocks.reduce((sum, { count }) => sum + count, 0);
  }

  get bytes(): number {
    return this.blocks.reduce(
      (sum, { names, folded, ids }) =>
        sum + BLOCK_BYTES + names.length + ids.length + (folded === names ? 0 : folded.length),
      0,
    );
  }

  select({ fragment, descending, offset, limit }: NameQuery): NamePage {
    const needle = fragment?.toLowerCase() ?? null;
    if (needle?.includes(END)) return { ids: [], total: 0 };
    const counts = this.blocks.map((block) => countMatches(block, needle));
    const total = counts.reduce((sum, count) => sum + count, 0);
    const from = descending ? Math.max(0, total - offset - limit) : offset;
    const to = Math.min(total, descending ? total - offset : offset + limit);
    const ids: string[] = [];
    let start = 0;
    for (const [n, count] of counts.entries()) {
      const end = start + count;
      if (count > 0 && end > from && start < to) {
        const matches = listMatches(this.blocks[n] as NameBlock, needle);
        ids.push(...matches.slice(Math.max(0, from - start), to - start));
      }
      start = end;
    }
    return { ids: descending ? ids.reverse() : ids, total };
  }

  /** Sets the name of an id. Returns false for a name with other characters: then these names must not be used. */
  set(id: string, name: string): boolean {
    const at = this.findBlock(name);
    const block = this.blocks[at];
    if (block) {
      const index = toLines(block.ids).indexOf(id);
      if (index !== -1 && toLines(block.names)[index] === name) return true;
    }
    this.delete(id);
    if (!SIMPLE.test(name)) return false;
    this.insert(id, name);
    return true;
  }

  delete(id: string): void {
    const line = id + END;
    const at = this.blocks.findIndex(({ ids }) => ids.startsWith(line) || ids.includes(END + line));
    const block = this.blocks[at];
    if (!block) return;
    const [names, ids] = [toLines(block.names), toLines(block.ids)];
    const index = ids.indexOf(id);
    this.replace(at, names.toSpliced(index, 1), ids.toSpliced(index, 1));
  }

  private insert(id: string, name: string): void {
    const at = this.findBlock(name);
    const block = this.blocks[at];
    const [names, ids] = block ? [toLines(block.names), toLines(block.ids)] : [[], []];
    const next = names.findIndex((each) => each > name);
    const index = next === -1 ? names.length : next;
    this.replace(at, names.toSpliced(index, 0, name), ids.toSpliced(index, 0, id));
  }

  /** Returns the position of the block that has the name, or would have it. */
  private findBlock(name: string): number {
    const next = this.blocks.findIndex(({ first }) => first > name);
    return next === -1 ? Math.max(0, this.blocks.length - 1) : Math.max(0, next - 1);
  }

  private replace(at: number, names: readonly string[], ids: readonly string[]): void {
    this.blocks = this.blocks.toSpliced(at, 1, ...createBlocks(names, ids));
  }
}
