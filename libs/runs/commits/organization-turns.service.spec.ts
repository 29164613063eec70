import { describe, expect, it } from '@jest/globals';
import { forEachGroup, Turns, type ConnectionTurn, type RoundStarts } from './organization-turns.service.js';

type Repository = {
  readonly organization: string;
  readonly token: string;
  readonly identifier: string;
  readonly workspace: string;
};

const NO_STARTS: RoundStarts = { served: [], positions: [] };

const makeRepositories = (organization: string, connections: number, each = 1): readonly Repository[] =>
  Array.from({ length: connections * each }, (_, number) => ({
    organization,
    token: `${organization}-${Math.floor(number / each)}`,
    identifier: `repository-${number % each}`,
    workspace: `ws-${number}`,
  }));

/** Works on the repositories in a round. `work` returns whether the turn continues. Returns what was worked on. */
const runRound = async (
  repositories: readonly Repository[],
  work: (repository: Repository, turn: ConnectionTurn) => Promise<boolean>,
  before = NO_STARTS,
): Promise<{ readonly worked: readonly string[]; readonly starts: RoundStarts }> => {
  const controllers = new Map<AbortSignal, AbortController>();
  const turns = new Turns(() => {
    const controller = new AbortController();
    controllers.set(controller.signal, controller);
    return controller.signal;
  }, 1_000);
  const worked: string[] = [];
  const groups = repositories.map((repository) => [repository] as const);
  const round = { signal: new AbortController().signal, done: () => undefined };
  await forEachGroup(turns, round, groups, async ([repository], turn) => {
    worked.push(`${repository.token} ${repository.identifier}`);
    if (await work(repository, turn)) {
      turn.last = repository;
      return;
    }
    turn.isCut = true;
    if (turn.isWhole) turn.last = repository;
    controllers.get(turn.deadline)?.abort();
  });
  return { worked, starts: turns.listStarts(before) };
};

describe('the turns of organizations', () => {
  it('end for all connections of an organization together, and for no other one', async () => {
    const repositories = [
      ...makeRepositories('slow', 100),
      ...makeRepositories('quick', 3),
      ...makeRepositories('other', 1),
    ];
    const { worked } = await runRound(repositories, async ({ organization }) => organization !== 'slow');
    expect(worked.filter((one) => one.startsWith('slow'))).toHaveLength(2);
    expect(worked.filter((one) => !one.startsWith('slow')).toSorted()).toEqual([
      'other-0 repository-0',
      'quick-0 repository-0',
      'quick-1 repository-0',
      'quick-2 repository-0',
    ]);
  });

  it('use one place of the organizations that are worked on at once, however many connections wait', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const repositories = [...makeRepositories('stuck', 100), ...makeRepositories('quick', 1)];
    const { worked } = await runRound(repositories, async ({ organization }) => {
      if (organization === 'stuck') await promise;
      else resolve();
      return false;
    });
    expect(worked).toContain('quick-0 repository-0');
  });

  it('leave time for a connection beside one that does not answer', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { worked } = await runRound(makeRepositories('acme', 2, 2), async ({ token, identifier }) => {
      if (token === 'acme-0') await promise;
      if (token === 'acme-1' && identifier === 'repository-1') resolve();
      return token !== 'acme-0';
    });
    expect(worked).toEqual(['acme-0 repository-0', 'acme-1 repository-0', 'acme-1 repository-1']);
  });
});

describe('the next round', () => {
  it('gives turns to the connections that had none before the others begin again', async () => {
    const repositories = makeRepositories('acme', 5);
    const isLeft =
      (starts: RoundStarts) =>
      (one: Repository): boolean =>
        !starts.served.some(({ token }) => token === one.token);
    const rounds: (readonly string[])[] = [];
    let starts = NO_STARTS;
    for (let round = 0; round < 4; round += 1) {
      const result = await runRound(repositories.filter(isLeft(starts)), async () => false, starts);
      ({ starts } = result);
      rounds.push(result.worked.map((one) => one.slice(0, 'acme-0'.length)));
    }
    expect(rounds).toEqual([['acme-0', 'acme-1'], ['acme-2', 'acme-3'], ['acme-4'], ['acme-0', 'acme-1']]);
  });

  it('keeps the positions of connections that wait for others, until they have their turns', async () => {
    const repositories = makeRepositories('acme', 3, 2);
    const first = await runRound(repositories, async () => false);
    expect(first.starts.positions.map(({ token }) => token)).toEqual(['acme-0', 'acme-1']);
    const second = await runRound(
      repositories.filter(({ token }) => token === 'acme-2'),
      async () => false,
      first.starts,
    );
    expect(second.starts).toMatchObject({
      served: [],
      positions: [{ token: 'acme-0' }, { token: 'acme-1' }, { token: 'acme-2' }],
    });
    const third = await runRound(repositories, async () => true, second.starts);
    expect(third.starts).toEqual(NO_STARTS);
  });

  it('begins with a connection that had no time left after the other connections of its organization', async () => {
    const { worked, starts } = await runRound(makeRepositories('acme', 3), async ({ token }) => token !== 'acme-2');
    expect(worked).toHaveLength(3);
    expect(starts).toEqual({
      served: [
        { organization: 'acme', token: 'acme-0' },
        { organization: 'acme', token: 'acme-1' },
      ],
      positions: [],
    });
  });
});
