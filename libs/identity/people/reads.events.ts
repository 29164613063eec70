import { z } from 'zod';
import { READS, TOKEN_KINDS, type TokenKind } from '#api/access';
import { defineEvents, type EventKinds, type Message } from '#platform/kernel';

/** Recorded reads: the members of an organization or team, and single tokens. */
export type PeopleRead =
  | Message<'PeopleListed', { organization: string; team: string | null; count: number }>
  | Message<'AuthenticationTokenShown', { token: string; kind: TokenKind; owner: string }>;

export const peopleReads = defineEvents(
  { ...READS, audited: 'user' },
  {
    PeopleListed: {
      schema: z.strictObject({ organization: z.string(), team: z.string().nullable(), count: z.int() }),
      audit: {
        action: 'index',
        id: ({ organization, team }) => team ?? organization,
        meta: ({ team, count }) => ({ team_id: team, count }),
      },
      ids: { refersTo: { organization: ['org'], team: ['team'] } },
    },
    AuthenticationTokenShown: {
      schema: z.strictObject({ token: z.string(), kind: z.enum(TOKEN_KINDS), owner: z.string() }),
      audit: { resource: 'authentication_token', action: 'show', id: ({ token }) => token },
      ids: { refersTo: { token: ['at'], owner: ['org', 'team', 'apool', 'agent', 'run'] } },
    },
  },
) satisfies EventKinds<PeopleRead>;
