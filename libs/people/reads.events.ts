import { z } from 'zod';
import { TOKEN_KINDS, type TokenKind } from '#access';
import type { EventKinds, Message } from '#kernel';

/** Recorded reads: the members of an organization or team, and single tokens. */
export type PeopleRead =
  | Message<'PeopleListed', { organization: string; team: string | null; count: number }>
  | Message<'AuthenticationTokenShown', { token: string; kind: TokenKind; owner: string }>;

export const peopleReads: EventKinds<PeopleRead> = {
  PeopleListed: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ organization: z.string(), team: z.string().nullable(), count: z.int() }),
    audit: {
      resource: 'user',
      action: 'index',
      id: ({ organization, team }) => team ?? organization,
      meta: ({ team, count }) => ({ team_id: team, count }),
    },
  },
  AuthenticationTokenShown: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ token: z.string(), kind: z.enum(TOKEN_KINDS), owner: z.string() }),
    audit: { resource: 'authentication_token', action: 'show', id: ({ token }) => token },
  },
};
