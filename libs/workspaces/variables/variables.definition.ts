import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { variableReads } from './reads.events.js';
import { variableSet } from './variable-sets/variable-set.js';
import { variableSetEvents } from './variable-sets/variable-sets.events.js';
import { variable } from './variables/variable.js';
import { variableEvents } from './variables/variables.events.js';
import { VARIABLE_SET_NAMES } from './variable-sets/variable-set-names.js';
import { variables, variableSecrets, variableSetNames } from './variables/variables.projection.js';

export const variablesDefinition: ModuleDefinition = {
  name: 'variables',
  kinds: {
    ...variableEvents,
    ...variableSetEvents,
    ...variableReads,
  },
  aggregates: [defineAggregate('var', variable), defineAggregate('varset', variableSet)],
  projections: [toProjection(variableSecrets), toProjection(variables), toProjection(variableSetNames)],
  followers: [],
  uniqueNames: [VARIABLE_SET_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};
