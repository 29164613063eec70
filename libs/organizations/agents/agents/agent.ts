import { conflict, notFound, Refusal, type Decider, type Message, type Timestamp } from '#platform/kernel';

/** Statuses that an agent reports, or that follow from missing pings. */
export const AGENT_STATUSES = ['idle', 'busy', 'unknown', 'errored', 'exited'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Milliseconds without a ping after which the status is unknown. */
const UNKNOWN_AFTER_MS = 3 * 60_000;
/** Milliseconds without a ping after which the agent counts as lost. */
export const ERRORED_AFTER_MS = 2 * 3_600_000;

/** The phases of runs that an executor can accept. */
export const ACCEPTED_PHASES = ['plan', 'apply'] as const;

/** What an executor says about itself. */
export type ExecutorFacts = {
  readonly version: string;
  /** How many phases it executes at a time. */
  readonly capacity: number;
  readonly phases: readonly (typeof ACCEPTED_PHASES)[number][];
};

/** The agent's last ping. Both members are null without a ping. */
export type Ping = { readonly reported: AgentStatus | null; readonly lastPingAt: Timestamp | null };

export const computeAgentStatus = ({ reported, lastPingAt }: Ping, now: Date): AgentStatus => {
  if (reported === null || lastPingAt === null) return 'unknown';
  if (reported === 'exited' || reported === 'errored') return reported;
  const silence = now.getTime() - Date.parse(lastPingAt);
  if (silence > ERRORED_AFTER_MS) return 'errored';
  return silence > UNKNOWN_AFTER_MS ? 'unknown' : reported;
};

type Registration = {
  readonly pool: string;
  readonly name: string | null;
  readonly ipAddress: string | null;
  /** Null for an agent that has not described itself. */
  readonly executor: ExecutorFacts | null;
};

/**
 * A process that executes the runs of its pool's workspaces. It reports its status every few seconds (agents.pings).
 * Only its registration and deletion are events.
 *
 *   absent ──register (by its token)──► registered ──deregister (by a user, if it is not working)──► gone
 */
export type AgentEvent =
  Message<'AgentRegistered', Registration> | Message<'AgentDeregistered', { pool: string; name: string | null }>;

type AgentCommand = Message<'RegisterAgent', Registration> | Message<'DeregisterAgent', { status: AgentStatus }>;

type RegisteredAgent = { readonly status: 'registered'; readonly pool: string; readonly name: string | null };
type AgentState = { readonly status: 'absent' | 'gone' } | RegisteredAgent;

export const agent: Decider<AgentState, AgentCommand, AgentEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    RegisterAgent: ({ pool, name, ipAddress, executor }, state) => {
      if (state.status !== 'absent') throw conflict('Agent exists already');
      return [{ type: 'AgentRegistered', data: { pool, name, ipAddress, executor } }];
    },
    DeregisterAgent: ({ status }, state) => {
      if (state.status !== 'registered') throw notFound();
      if (status === 'idle' || status === 'busy') {
        const detail = `Agent is ${status}. Only agents that are unknown, errored or exited can be deleted`;
        throw new Refusal('precondition-failed', [{ detail }]);
      }
      return [{ type: 'AgentDeregistered', data: { pool: state.pool, name: state.name } }];
    },
  },
  evolve: {
    AgentRegistered: ({ pool, name }) => ({ status: 'registered', pool, name }),
    AgentDeregistered: () => ({ status: 'gone' }),
  },
};
