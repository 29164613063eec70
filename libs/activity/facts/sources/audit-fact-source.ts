import { z } from 'zod';
import {
  conflict,
  defineEvents,
  getAuditedOrganization,
  requireActive,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';

/**
 * A service from which an organization accepts facts by Kafka, by its `source` URI.
 *
 *   absent ──register──► active ──remove──► removed
 */
export const auditFactSourceEvents = defineEvents(
  {
    topic: 'organizations',
    stream: 'afs',
    audited: 'organization',
    live: inOrganization('audit-fact-sources', 'manage-audit-trail'),
  },
  {
    AuditFactSourceRegistered: {
      schema: z.strictObject({ source: z.string(), description: z.string() }),
      audit: {
        action: 'update',
        id: getAuditedOrganization,
        meta: ({ source }) => ({ audit_fact_source_registered: source }),
      },
      live: 'created',
    },
    AuditFactSourceRemoved: {
      schema: z.strictObject({ source: z.string() }),
      audit: {
        action: 'update',
        id: getAuditedOrganization,
        meta: ({ source }) => ({ audit_fact_source_removed: source }),
      },
      live: 'deleted',
    },
  },
);

export type AuditFactSourceEvent = EventsOf<typeof auditFactSourceEvents>;

type AuditFactSourceCommand =
  /** `registered`: number of sources that the organization already has. */
  | Message<'RegisterAuditFactSource', { source: string; description: string; registered: number }>
  | Message<'RemoveAuditFactSource', Record<never, never>>;

type AuditFactSourceState =
  { readonly status: 'absent' | 'removed' } | { readonly status: 'active'; readonly source: string };

const SOURCE_MAX = 200;
const DESCRIPTION_MAX = 500;
/**
 * Maximum number of sources in an organization, more than it runs services. Every batch of facts is compared with all
 * of them.
 */
const SOURCES_MAX = 100;

/** One word of visible characters, the same rule as for the `source` of a fact. */
const ONE_WORD = /^[^\p{C}\p{Z}]+$/u;

const checkSource = (source: string): void => {
  if (source === '') throw unprocessable("Source can't be blank", 'source');
  if (source.length > SOURCE_MAX) {
    throw unprocessable(`Source is too long (at most ${SOURCE_MAX} characters)`, 'source');
  }
  if (!ONE_WORD.test(source)) throw unprocessable('Source must be one word, without spaces', 'source');
};

const checkDescription = (description: string): void => {
  if (description.length > DESCRIPTION_MAX) {
    throw unprocessable(`Description is too long (at most ${DESCRIPTION_MAX} characters)`, 'description');
  }
};

export const auditFactSource: Decider<AuditFactSourceState, AuditFactSourceCommand, AuditFactSourceEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    RegisterAuditFactSource: ({ source, description, registered }, state) => {
      if (state.status !== 'absent') throw conflict('The source exists already');
      if (registered >= SOURCES_MAX) {
        throw unprocessable(`There are too many sources (at most ${SOURCES_MAX} in an organization). Remove one first`);
      }
      checkSource(source);
      checkDescription(description);
      return [{ type: 'AuditFactSourceRegistered', data: { source, description } }];
    },
    RemoveAuditFactSource: (_, state) => {
      const { source } = requireActive(state);
      return [{ type: 'AuditFactSourceRemoved', data: { source } }];
    },
  },
  evolve: {
    AuditFactSourceRegistered: ({ source }) => ({ status: 'active', source }),
    AuditFactSourceRemoved: () => ({ status: 'removed' }),
  },
};
