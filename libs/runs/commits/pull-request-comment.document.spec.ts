import { describe, expect, it } from '@jest/globals';
import { renderComment, type CommentedPlan } from './pull-request-comment.document.js';

const MARK = '<!-- mark -->';
const SHA = 'c0ffee'.padEnd(40, '0');

const plan = (workspaceName: string, changes: Partial<CommentedPlan> = {}): CommentedPlan => ({
  run: { id: 'run-1', workspaceName, status: 'planned', isPlanned: true, isConfirmed: false },
  url: `https://cadastre.example.com/app/acme/workspaces/${workspaceName}`,
  counts: { additions: 2, changes: 1, destructions: 0 },
  resources: [{ address: 'aws_vpc.main', kind: 'create' }],
  ...changes,
});

const planning = { id: 'run-2', workspaceName: 'shop', status: 'planning', isPlanned: false, isConfirmed: false };

describe('the comment on a pull request', () => {
  it('counts the changes of each workspace, and names the resources of plans that have ended', () => {
    const text = renderComment(MARK, SHA, [
      plan('network'),
      plan('shop', { run: planning, counts: null, resources: [] }),
    ]);
    expect(text.split('\n')).toEqual([
      MARK,
      '**Cadastre** plans the commit c0ffee000000:',
      '',
      '| Workspace | Plan | Add | Change | Destroy |',
      '| --- | --- | --- | --- | --- |',
      '| [network](https://cadastre.example.com/app/acme/workspaces/network) | Planned | 2 | 1 | 0 |',
      '| [shop](https://cadastre.example.com/app/acme/workspaces/shop) | Planning | – | – | – |',
      '',
      '<details><summary>Changes in network</summary>',
      '',
      '```text',
      '  + aws_vpc.main',
      '```',
      '',
      '</details>',
      '',
    ]);
  });

  it('leads to the run if the changes are not here', () => {
    expect(renderComment(MARK, SHA, [plan('network', { resources: null })])).toContain(
      'The changes are not available here',
    );
  });

  it('keeps addresses in their lines and in the block of code', () => {
    const address = 'a.b["\n```\n# heading @everyone \u202e\ud800"]';
    const text = renderComment(MARK, SHA, [plan('network', { resources: [{ address, kind: 'destroy' }] })]);
    const lines = text.split('\n');
    expect(lines.filter((line) => line.startsWith('```'))).toEqual(['```text', '```']);
    expect(lines.filter((line) => line.includes('@everyone'))).toHaveLength(1);
    expect([text.isWellFormed(), text.includes('\u202e')]).toEqual([true, false]);
  });

  it('has a limited size, with many workspaces, resources and long addresses', () => {
    const resources = Array.from({ length: 1_000 }, () => ({ address: 'x'.repeat(5_000), kind: 'update' }) as const);
    const plans = Array.from({ length: 150 }, (_, index) => plan(`ws-${index}`, { resources }));
    const text = renderComment(MARK, SHA, plans);
    expect(text.length).toBeLessThan(60_000);
    expect(text).toContain('There are more workspaces.');
    const short = renderComment(MARK, SHA, [
      plan('one', { resources: resources.map((one) => ({ ...one, address: 'a.b' })) }),
    ]);
    expect(short).toContain('and 800 more: [see the run]');
  });
});
