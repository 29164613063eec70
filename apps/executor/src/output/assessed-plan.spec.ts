import { expect, it } from '@jest/globals';
import { assessPlan } from './assessed-plan.js';

const resource = (address: string, mode = 'managed') => ({ address, mode });
const drift = (address: string, action: string, mode = 'managed') => ({
  ...resource(address, mode),
  change: { actions: [action] },
});

it('counts resources that were changed and deleted, and the others that terraform manages', () => {
  const child = { resources: [resource('module.a.x.one'), resource('module.a.data.x.it', 'data')] };
  const plan = {
    resource_drift: [
      drift('x.changed', 'update'),
      drift('x.gone', 'delete'),
      drift('x.moved', 'no-op'),
      drift('data.x.it', 'update', 'data'),
    ],
    prior_state: {
      values: { root_module: { resources: [resource('x.changed'), resource('x.moved')], child_modules: [child] } },
    },
  };
  expect(assessPlan(plan)).toMatchObject({ resourcesDrifted: 2, resourcesUndrifted: 2 });
});

it('counts checks by their status', () => {
  const checks = ['pass', 'fail', 'pass', 'error', 'unknown', 'new'].map((status) => ({ status }));
  expect(assessPlan({ checks }).checks).toEqual({ pass: 2, fail: 1, error: 1, unknown: 1 });
});

it('finds nothing in a plan without a state', () => {
  expect(assessPlan({ resource_drift: null, prior_state: 1, checks: [null] })).toEqual({
    resourcesDrifted: 0,
    resourcesUndrifted: 0,
    checks: { pass: 0, fail: 0, error: 0, unknown: 0 },
  });
});
