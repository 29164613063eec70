import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from './folders.js';

/** The folder of each module, `libs/organizations/ssh-keys`, by its name. Names are unique. */
export const MODULE_FOLDERS: ReadonlyMap<string, string> = new Map(
  globSync('libs/*/*/', { cwd: ROOT })
    .toSorted()
    .map((folder) => [basename(folder), folder]),
);

/** Returns the names of the groups, from the lowest to the highest. */
export const readGroups = async (): Promise<readonly string[]> => {
  const { GROUPS } = (await import(join(ROOT, '.dependency-cruiser.js'))) as { GROUPS: readonly string[] };
  return GROUPS;
};

/** Returns the name of the module of a path such as `libs/organizations/ssh-keys/ssh-key.ts`. */
export const nameModule = (file: string): string => file.split('/')[2] ?? '';

export type ModuleGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the modules that each module imports, types included. Imports of specs do not count. */
export const readModuleGraph = (): ModuleGraph => {
  const graph = new Map([...MODULE_FOLDERS.keys()].map((module) => [module, new Set<string>()]));
  for (const file of globSync('libs/*/*/**/*.ts', { cwd: ROOT })) {
    if (/[./]spec\.ts$/.test(file)) continue;
    const source = readFileSync(join(ROOT, file), 'utf8');
    for (const [, imported = ''] of source.matchAll(/from '#[a-z-]+\/([a-z-]+)(?:\/\w+)?'/g))
      graph.get(nameModule(file))?.add(imported);
  }
  return graph;
};

/** Returns whether the module imports the other one, directly or through others. */
export const canReach = (graph: ModuleGraph, from: string, to: string): boolean => {
  const reached = new Set([from]);
  for (const module of reached)
    for (const imported of graph.get(module) ?? []) {
      if (imported === to) return true;
      reached.add(imported);
    }
  return false;
};
