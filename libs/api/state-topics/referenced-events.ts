import type { RecordedEvent } from '#platform/kernel';
import { castRows, type QueryRunner } from '#platform/postgres';
import type { ReferencedEvent } from './published-resource.js';
import { selectFirstEvents, type FirstEventRow } from './state-topics.queries.js';

/** An event in the order of the log. */
export type PositionedEvent = ReferencedEvent & { readonly transaction: string; readonly position: number };

type ReferenceFields = Readonly<Record<string, unknown>>;

/** Streams whose events name what they belong to in the first event only. */
const needsFirst = ({ stream }: RecordedEvent): boolean => !/^(?:ws|prj|org|team|prov|rtk)-/.test(stream);

const isText = (value: unknown): value is string => typeof value === 'string';

const getOwner = (fields: ReferenceFields): string | null => {
  const { type, id } = (fields['owner'] ?? fields['target'] ?? {}) as { readonly type?: string; readonly id?: string };
  return type === 'workspaces' && id !== undefined ? id : null;
};

const findWorkspace = (stream: string, fields: ReferenceFields): string | null => {
  if (stream.startsWith('ws-')) return stream;
  return isText(fields['workspace']) ? fields['workspace'] : getOwner(fields);
};

const listProjects = (stream: string, fields: ReferenceFields): readonly string[] =>
  [stream, fields['project'], fields['from'], fields['to']].filter(isText).filter((id) => id.startsWith('prj-'));

const findText = (fields: ReferenceFields, name: string): string | null => {
  const value = fields[name];
  return isText(value) ? value : null;
};

const toReferencedEvent = (
  { type, stream, data, transaction, position }: RecordedEvent,
  organization: string,
  first: FirstEventRow | undefined,
): PositionedEvent => {
  const fields: ReferenceFields = { ...first, ...(data as ReferenceFields) };
  return {
    type,
    stream,
    organization,
    transaction,
    position,
    workspace: findWorkspace(stream, fields),
    projects: listProjects(stream, fields),
    team: stream.startsWith('team-') ? stream : findText(fields, 'team'),
    provider: stream.startsWith('prov-') ? stream : findText(fields, 'provider'),
    platform: findText(fields, 'platform'),
  };
};

/** Returns the events of organizations with the ids that they name. */
export const readReferences = async (
  events: readonly RecordedEvent[],
  run: QueryRunner,
): Promise<readonly PositionedEvent[]> => {
  const streams = [...new Set(events.filter(needsFirst).map(({ stream }) => stream))];
  const rows = streams.length === 0 ? [] : castRows<FirstEventRow>(await run(selectFirstEvents(streams)));
  const firstByStream = new Map(rows.map((row) => [row.stream, row]));
  return events.flatMap((event) =>
    event.organization === null ? [] : [toReferencedEvent(event, event.organization, firstByStream.get(event.stream))],
  );
};
