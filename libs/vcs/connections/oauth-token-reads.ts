import { z } from 'zod';
import { defineEvents, type EventsOf } from '#platform/kernel';
import { READS } from '#api/access/rules';

/** Recorded reads. */
export const oauthTokenReads = defineEvents(
  { ...READS, audited: 'oauth_token' },
  {
    OauthTokensListed: {
      schema: z.strictObject({ organization: z.string(), count: z.int() }),
      audit: { action: 'index', id: ({ organization }) => organization, meta: ({ count }) => ({ count }) },
      ids: { refersTo: { organization: ['org'] } },
    },
    OauthTokenShown: {
      schema: z.strictObject({ token: z.string() }),
      audit: { action: 'show', id: ({ token: id }) => id },
      ids: { refersTo: { token: ['ot'] } },
    },
  },
);

export type OauthTokenRead = EventsOf<typeof oauthTokenReads>;
