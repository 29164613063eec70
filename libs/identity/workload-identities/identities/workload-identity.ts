import {
  checkName,
  conflict,
  hasNoChanges,
  PATH_NAME_RULE,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type Message,
  type Timestamp,
} from '#platform/kernel';
import { checkClaimRules, type ClaimRules } from './claim-rules.js';
import { checkIssuer } from './issuer-urls.js';

/**
 * Lets pipelines of a CI system get tokens of a team. A pipeline needs a token of the issuer for the audience, with claims
 * that match.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export type WorkloadIdentitySettings = {
  readonly name: string;
  readonly description: string | null;
  readonly issuer: string;
  /** The value that the claim `aud` must contain. Null: the public URL of the server. */
  readonly audience: string | null;
  readonly claims: ClaimRules;
  /** How long a token of the team lives, in minutes. */
  readonly tokenMinutes: number;
  /** If false, no tokens are issued. */
  readonly enabled: boolean;
};

export type WorkloadIdentityChanges = Partial<WorkloadIdentitySettings>;

export type WorkloadIdentityEvent =
  | Message<'WorkloadIdentityCreated', WorkloadIdentitySettings & { readonly team: string }>
  | Message<'WorkloadIdentityUpdated', { team: string; changes: WorkloadIdentityChanges }>
  | Message<'WorkloadIdentityDeleted', { team: string; name: string }>;

/**
 * An identity has issued a token. The events of an identity are in another stream than the identity, so that pipelines
 * that start at the same time do not conflict. No event contains the token of the pipeline or of the team.
 */
export type WorkloadTokenIssued = Message<
  'WorkloadTokenIssued',
  {
    identity: string;
    /** Id of the issued token. */
    token: string;
    issuer: string;
    /** The claim `sub` of the pipeline's token. */
    subject: string;
    expiredAt: Timestamp;
  }
>;

export type NewWorkloadIdentity = WorkloadIdentityChanges &
  Pick<WorkloadIdentitySettings, 'name' | 'issuer' | 'claims'>;

export type WorkloadIdentityCommand =
  | Message<'CreateWorkloadIdentity', { team: string; settings: NewWorkloadIdentity }>
  | Message<'UpdateWorkloadIdentity', { changes: WorkloadIdentityChanges }>
  | Message<'DeleteWorkloadIdentity', Record<never, never>>;

type ActiveWorkloadIdentity = WorkloadIdentitySettings & { readonly status: 'active'; readonly team: string };
type WorkloadIdentityState = { readonly status: 'absent' | 'deleted' } | ActiveWorkloadIdentity;

export const TOKEN_MINUTES = { least: 1, most: 1_440, initial: 60 } as const;

const NAME_RULE = { ...PATH_NAME_RULE, most: 90 };

const checkAudience = (audience: string | null): void => {
  if (audience !== null && audience.trim() === '') throw unprocessable("Audience can't be blank", 'audience');
};

type CheckedSettings = {
  readonly [K in 'name' | 'issuer' | 'audience' | 'claims']?: WorkloadIdentitySettings[K] | undefined;
};

/** Checks the attributes that are present. */
export const checkWorkloadIdentity = ({ name, issuer, audience, claims }: CheckedSettings): void =>
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => issuer !== undefined && checkIssuer(issuer),
    () => audience !== undefined && checkAudience(audience),
    () => claims !== undefined && checkClaimRules(claims),
  );

/** Sorts the claims by name, because Postgres stores the members of an object in another order than a request has. */
const sortClaims = <Settings extends WorkloadIdentityChanges>(settings: Settings): Settings =>
  settings.claims === undefined
    ? settings
    : {
        ...settings,
        claims: Object.fromEntries(Object.entries(settings.claims).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      };

export const workloadIdentity: Decider<WorkloadIdentityState, WorkloadIdentityCommand, WorkloadIdentityEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateWorkloadIdentity: ({ team, settings }, state) => {
      if (state.status !== 'absent') throw conflict('Workload identity exists already');
      checkWorkloadIdentity(settings);
      const { name, issuer, claims, description = null, audience = null, enabled = true } = settings;
      const { tokenMinutes = TOKEN_MINUTES.initial } = settings;
      const data = { team, name, description, issuer, audience, claims, tokenMinutes, enabled };
      return [{ type: 'WorkloadIdentityCreated', data }];
    },
    UpdateWorkloadIdentity: ({ changes }, state) => {
      const before = requireActive(state);
      const changed = pickChanged(sortClaims(before), sortClaims(changes));
      checkWorkloadIdentity(changed);
      if (hasNoChanges(changed)) return [];
      return [{ type: 'WorkloadIdentityUpdated', data: { team: before.team, changes: changed } }];
    },
    DeleteWorkloadIdentity: (_, state) => {
      const { team, name } = requireActive(state);
      return [{ type: 'WorkloadIdentityDeleted', data: { team, name } }];
    },
  },
  evolve: {
    WorkloadIdentityCreated: (data) => ({ status: 'active', ...data }),
    WorkloadIdentityUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    WorkloadIdentityDeleted: () => ({ status: 'deleted' }),
  },
};
