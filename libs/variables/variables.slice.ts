import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { variableReads } from './reads.events.js';
import { variableSet } from './variable-set.js';
import { variableSetEvents } from './variable-sets.events.js';
import { variable } from './variable.js';
import { variableEvents } from './variables.events.js';
import { variables, variableSecrets } from './variables.projection.js';

/** Variables of workspaces, and the sets of them that many workspaces share. */
export const variablesSlice: Slice = {
  name: 'variables',
  kinds: { ...kindsOf(variableEvents), ...kindsOf(variableSetEvents), ...kindsOf(variableReads) },
  aggregates: [aggregate('var', variable), aggregate('varset', variableSet)],
  projections: [projectionOf(variableSecrets), projectionOf(variables)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
