import type { ExpectedAccess, MatrixRow } from '../../matrix/matrix.js';
import { eventRegistry } from '../../../apps/modules.js';
import { auditedEvents } from '../catalogue.js';
import type { DescribedOperation } from './described-operations.js';

/** A permission that the caller needs; or several, of which one suffices. */
type PermissionRequirement = string | { readonly anyOf: readonly string[] };

const describeDemand = (demand: ExpectedAccess): PermissionRequirement => {
  if (typeof demand === 'string') return demand;
  return 'anyOf' in demand ? { anyOf: demand.anyOf } : demand[0];
};

const describePermissions = ({ demands }: MatrixRow): readonly PermissionRequirement[] => {
  if (typeof demands === 'string') return [];
  const requirements = new Map(
    demands.map((demand) => [JSON.stringify(describeDemand(demand)), describeDemand(demand)]),
  );
  return [...requirements.values()];
};

/**
 * Returns the value for the extension, and the values of cases that differ from it under the name with `-when`, by
 * condition.
 */
const describeCases = (
  name: string,
  rows: readonly MatrixRow[],
  describe: (row: MatrixRow) => readonly unknown[],
): object => {
  const usual = rows.find(({ condition }) => condition === undefined) ?? rows[0];
  if (!usual) return {};
  const value = describe(usual);
  const differing = rows.filter((row) => JSON.stringify(describe(row)) !== JSON.stringify(value));
  return {
    [name]: value,
    ...(differing.length > 0
      ? { [`${name}-when`]: Object.fromEntries(differing.map((row) => [row.condition ?? 'otherwise', describe(row)])) }
      : {}),
  };
};

const EVENTS_BY_ENTRY = Map.groupBy(
  auditedEvents.filter(({ event }) => event !== 'AuditFactReported'),
  ({ type, action }) => `${type} ${action}`,
);

/** Returns the events of a success. Throws if the audit entries do not determine them and the description has none. */
const listEvents = ({ route, description }: DescribedOperation): readonly string[] => {
  const { operationId } = description;
  const unknown = description.events?.filter((event) => !(event in eventRegistry)) ?? [];
  if (unknown.length > 0) throw new Error(`${operationId}: no module defines the event ${unknown.join(', ')}`);
  if (description.events) return description.events;
  const entries = [...new Set(route.rows.flatMap(({ trail = [] }) => trail))];
  const audited = entries.flatMap((entry) => {
    const events = (EVENTS_BY_ENTRY.get(entry) ?? []).map(({ event }) => event);
    if (events.length === 1) return events;
    throw new Error(`${operationId}: name the \`events\`, because \`${entry}\` records ${events.join(', ') || 'none'}`);
  });
  return [...new Set([...audited, ...(description.include?.events ?? [])])];
};

/** Returns the permissions, audit entries and events of an operation, from the matrix and the audit catalogue. */
export const buildExtensions = (operation: DescribedOperation): object => {
  const { rows } = operation.route;
  const events = listEvents(operation);
  return {
    ...describeCases('x-permission', rows, describePermissions),
    ...describeCases('x-audit-entry', rows, ({ trail = [] }) => trail),
    'x-event': events,
  };
};
