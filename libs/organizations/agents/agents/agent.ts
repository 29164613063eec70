import { conflict, notFound, Refusal, type Decider, type Message, type Timestamp } from '#platform/kernel';

/** Statuses that an agent reports, or that follow from missing pings. */
export const AGENT_STATUSES = ['idle', 'busy', 'unknown', 'errored', 'exited'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Milliseconds without a ping after which the status is unknown. */
const UNKNOWN_AFTER_MS = 3 * 60_000;
/** Milliseconds without a ping after which the agent counts as lost. */
export const ERRORED_AFTER_MS = 2 * 3_600_000;

/** The agent's last ping. Both members are null without a ping. */
export type Ping = { readonly reported: AgentStatus | null; readonly lastPingAt: Timestamp | null };

export const computeAgentStatus = ({ reported, lastPingAt }: Ping, now: Date): AgentStatus => {
  if (reported === null || lastPingAt === null) return 'unknown';
  if (reported === 'exited' || reported === 'errored') return reported;
  const silence = now.getTime() - Date.parse(lastPingAt);
  if (silence > ERRORED_AFTER_MS) return 'errored';
  return silence > UNKNOWN_AFTER_MS ? 'unknown' : reported;
};

/**
 * A process that executes the runs of its pool's workspaces. It reports its status every few seconds (agents.pings).
 * Only its registration and deletion are events.
 *
 *   absent ──register (by its token)──► registered ──deregister (by a user, if it is not working)──► gone
 */
export type AgentEvent =
  | Message<'AgentRegistered', { pool: string; name: string | null; ipAddress: string | null }>
  | Message<'AgentDeregistered', { pool: string; name: string | null }>;

type AgentCommand =
  | Message<'RegisterAgent', { pool: string; name: string | null; ipAddress: string | null }>
  | Message<'DeregisterAgent', { status: AgentStatus }>;

type RegisteredAgent = { readonly status: 'registered'; readonly pool: string; readonly name: string | null };
type AgentState = { readonly status: 'absent' | 'gone' } | RegisteredAgent;

export const agent: Decider<AgentState, AgentCommand, AgentEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    RegisterAgent: ({ pool, name, ipAddress }, state) => {
      if (state.status !== 'absent') throw conflict('Agent exists already');
      return [{ type: 'AgentRegistered', data: { pool, name, ipAddress } }];
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
