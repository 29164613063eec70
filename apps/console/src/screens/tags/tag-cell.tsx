import type { ReservedTagKey, WorkspaceTagsRow } from '../../api/tags.js';
import type { MatrixCell } from '../../components/matrix-grid.js';
import classes from './tags.module.css';

type CellOptions = { readonly row: WorkspaceTagsRow; readonly key: string; readonly isReserved: boolean };

const describe = ({
  row,
  key,
  isReserved,
}: CellOptions): readonly [string, string, 'value' | 'inherited' | 'gap' | 'none'] => {
  if (row.missing) return row.missing.includes(key) ? ['no value', 'missing', 'gap'] : ['has a value', '✓', 'none'];
  const tag = row.tags.find((each) => each.key === key);
  if (tag && tag.value !== '') {
    return tag.isInherited ? [`${tag.value} of the project`, tag.value, 'inherited'] : [tag.value, tag.value, 'value'];
  }
  if (isReserved) return ['no value, but the key is reserved', 'missing', 'gap'];
  return tag ? ['tag without a value', '✓', 'value'] : ['no tag', '–', 'none'];
};

/** Returns the cell of a workspace and a key: its value, where it comes from, or that it is missing. */
export const renderTagCell = (options: CellOptions): MatrixCell => {
  const [text, content, kind] = describe(options);
  const { row, key } = options;
  return { label: `${row.name}, ${key}: ${text}`, content: <span className={classes[kind]}>{content}</span> };
};

/** Returns the keys of the matrix: the reserved ones first, then the others of the rows that are loaded. */
export const listTagKeys = (
  reserved: readonly ReservedTagKey[],
  rows: readonly WorkspaceTagsRow[],
): readonly string[] => {
  const first = reserved.map(({ attributes }) => attributes.key).toSorted();
  const others = new Set(rows.flatMap(({ tags }) => tags.map(({ key }) => key)));
  for (const key of first) others.delete(key);
  return [...first, ...[...others].toSorted()];
};
