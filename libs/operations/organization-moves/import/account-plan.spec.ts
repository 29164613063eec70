import { describe, expect, it } from '@jest/globals';
import { parseUserMapping, planAccounts, type AccountPlanInput } from './account-plan.js';

const ada = { id: 'user-a', username: 'ada', email: 'ada@a.test' };
const bob = { id: 'user-b', username: 'bob', email: null };
const otherAda = { id: 'user-x', username: 'ada', email: null };

const plan = (input: Partial<AccountPlanInput>) =>
  planAccounts({ exported: [ada, bob], present: [], forgotten: new Set(), mappings: [], ...input });

describe('accounts of an imported organization', () => {
  it('are created if the site has no similar account', () => {
    expect(plan({})).toEqual({ created: [ada, bob], matched: [], renamed: new Map(), problems: [] });
  });

  it('are those of the site if the ids are equal, whatever the names', () => {
    const renamedAda = { id: 'user-a', username: 'lovelace', email: null };
    expect(plan({ present: [renamedAda] })).toEqual({
      created: [bob],
      matched: [{ account: renamedAda, exported: ada }],
      renamed: new Map(),
      problems: [],
    });
  });

  it('are not created for people that the site has forgotten', () => {
    expect(plan({ forgotten: new Set(['user-a']) }).created).toEqual([bob]);
  });

  it('are refused if another account has the name', () => {
    expect(plan({ present: [otherAda] }).problems).toEqual([
      'ada (user-a) has the user name of ada (user-x) of this site: if they are one person, add --map-user ada=ada; ' +
        'otherwise rename one of them',
    ]);
  });

  it('are refused if another account has the name in another case', () => {
    const present = [{ ...otherAda, username: 'ADA' }];
    expect(plan({ present }).problems).toEqual([
      'ada (user-a) has the user name of ADA (user-x) of this site: if they are one person, add --map-user ada=ADA; ' +
        'otherwise rename one of them',
    ]);
  });

  it('are refused if another account has the address in another case', () => {
    const countess = { id: 'user-y', username: 'countess', email: 'ADA@a.test' };
    expect(plan({ present: [countess] }).problems).toEqual([
      'ada (user-a) has the e-mail address of countess (user-y) of this site: if they are one person, add ' +
        '--map-user ada=countess; otherwise change the address of one of them',
    ]);
  });

  it.each([
    ['ada', 'ada'],
    ['Ada', 'ADA'],
    ['user-a', 'user-x'],
  ])('are replaced if the operator maps %s to %s', (from, to) => {
    expect(plan({ present: [otherAda], mappings: [{ from, to }] })).toEqual({
      created: [bob],
      matched: [{ account: otherAda, exported: ada }],
      renamed: new Map([['user-a', 'user-x']]),
      problems: [],
    });
  });

  it('are mapped to the account with exactly the name, and otherwise to the oldest with the name', () => {
    const oldest = { id: 'user-y', username: 'Ada', email: null };
    const mapTo = (to: string) =>
      plan({ present: [oldest, otherAda], mappings: [{ from: 'ada', to }] }).matched.map(({ account }) => account.id);
    expect([mapTo('Ada'), mapTo('ada'), mapTo('ADA')]).toEqual([['user-y'], ['user-x'], ['user-y']]);
  });

  it.each([
    [{ from: 'eve', to: 'ada' }, '--map-user eve=ada: the export has no user eve'],
    [{ from: 'ada', to: 'eve' }, '--map-user ada=eve: this site has no user eve'],
    [{ from: 'ada', to: 'bob' }, '--map-user ada=bob: the export has the user bob (user-b) besides ada (user-a)'],
  ])('are not mapped by %j', (mapping, problem) => {
    expect(plan({ present: [bob, otherAda], mappings: [mapping] }).problems).toContain(problem);
  });

  it('are not mapped twice', () => {
    const mappings = [
      { from: 'ada', to: 'user-x' },
      { from: 'bob', to: 'user-x' },
    ];
    expect(plan({ present: [otherAda], mappings }).problems).toEqual(['--map-user: user-x occurs twice']);
  });
});

describe('a mapping of users', () => {
  it('has two names and an equals sign', () => {
    expect(parseUserMapping('ada=user-x')).toEqual({ from: 'ada', to: 'user-x' });
    for (const text of ['', 'ada', 'ada=', '=ada', 'a=b=c']) expect(parseUserMapping(text)).toBeNull();
  });
});
