import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { agent, computeAgentStatus, type AgentEvent, type AgentStatus } from './agent.js';

const { given } = specify(agent);

const data = { pool: 'apool-1', name: 'one', ipAddress: '10.0.0.1', executor: null };
const registered: AgentEvent = { type: 'AgentRegistered', data };
const deregistered: AgentEvent = { type: 'AgentDeregistered', data: { pool: 'apool-1', name: 'one' } };
const deregister = (status: AgentStatus) => ({ type: 'DeregisterAgent', data: { status } }) as const;

describe('an agent', () => {
  it('registers once', () => {
    given().when({ type: 'RegisterAgent', data }).yields(registered);
    given(registered).when({ type: 'RegisterAgent', data }).refuses('conflict', 'exists already');
  });

  it.each(['unknown', 'errored', 'exited'] as const)('is deleted if it is %s', (status) => {
    given(registered).when(deregister(status)).yields(deregistered);
  });

  it.each(['idle', 'busy'] as const)('is not deleted while it is %s', (status) => {
    given(registered).when(deregister(status)).refuses('precondition-failed', `Agent is ${status}.`);
  });

  it('is deleted once', () => {
    given().when(deregister('exited')).refuses('not-found', 'Not found');
    given(registered, deregistered).when(deregister('exited')).refuses('not-found', 'Not found');
  });
});

describe('the status of an agent', () => {
  const now = new Date('2026-11-21T12:00:00.000Z');

  it.each([
    ['idle', '11:59:00', 'idle'],
    ['busy', '11:57:00', 'busy'],
    ['idle', '11:56:59', 'unknown'],
    ['unknown', '11:59:59', 'unknown'],
    ['busy', '10:00:00', 'unknown'],
    ['busy', '09:59:59', 'errored'],
    ['exited', '01:00:00', 'exited'],
    ['errored', '11:59:59', 'errored'],
  ] as const)('after the ping %s at %s is %s at noon', (reported, time, status) => {
    expect(computeAgentStatus({ reported, lastPingAt: `2026-11-21T${time}.000Z` }, now)).toBe(status);
  });

  it('is unknown without a ping', () => {
    expect(computeAgentStatus({ reported: null, lastPingAt: null }, now)).toBe('unknown');
  });
});
