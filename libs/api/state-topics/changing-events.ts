import type { Projection } from '#platform/kernel';
import type { PublishedResource } from './published-resource.js';

const writes = ({ tables }: Projection, table: string): boolean => (tables as readonly string[]).includes(table);

/** Returns the types of the events that can change documents of the resource. */
export const listChangingTypes = (
  { tables, alsoChangedBy }: Pick<PublishedResource, 'tables' | 'alsoChangedBy'>,
  projections: readonly Projection[],
): ReadonlySet<string> => {
  const types = tables.flatMap((table) => {
    const writers = projections.filter((projection) => writes(projection, table));
    if (writers.length === 0) throw new Error(`no projection writes the table ${table}`);
    return writers.flatMap(({ on }) => Object.entries(on).flatMap(([type, handler]) => (handler ? [type] : [])));
  });
  return new Set([...types, ...alsoChangedBy]);
};

/** Returns the names of the views that documents of these resources are read from. */
export const listReadViews = (
  resources: readonly Pick<PublishedResource, 'tables'>[],
  projections: readonly Projection[],
): readonly string[] => {
  const tables = resources.flatMap((resource) => resource.tables);
  return projections
    .filter((projection) => tables.some((table) => writes(projection, table)))
    .map(({ name }) => name)
    .toSorted();
};
