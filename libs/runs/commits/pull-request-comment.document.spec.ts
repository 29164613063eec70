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
      '| [`network`](https://cadastre.example.com/app/acme/workspaces/network) | Planned | 2 | 1 | 0 |',
      '| [`shop`](https://cadastre.example.com/app/acme/workspaces/shop) | Planning | – | – | – |',
      '',
      '<details><summary>Changes in <code>network</code></summary>',
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
    expect(renderComment(MARK, SHA, [plan('network', { resources: null }), plan('shop', { resources: [] })])).toContain(
      '\nChanges of 1 of these workspaces are not listed here: see their runs.\n',
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

  it('contains no mention, link, column or HTML that a name or an address brings', () => {
    const text = '`@all` [x](https://evil.example.com) | <!-- mark --> <b>';
    const resources = [{ address: `a.b["${text}"]`, kind: 'create' }] as const;
    const comment = renderComment(MARK, SHA, [
      plan('x', { run: { ...plan('x').run, workspaceName: text }, resources }),
    ]);
    const code = "'@all' [x](https://evil.example.com) |  !-- mark --   b ";
    expect(comment).toContain(`| [\`${code.replace('|', ' ')}\`](`);
    expect(comment).toContain(`<summary>Changes in <code>${code}</code></summary>`);
    expect(comment).toContain(`\n  + a.b["${code}"]\n`);
    expect(comment.indexOf(MARK)).toBe(comment.lastIndexOf(MARK));
  });

  it('lists a part of each plan if there are many workspaces, resources and long addresses', () => {
    const resources = Array.from({ length: 1_000 }, () => ({ address: 'x'.repeat(5_000), kind: 'update' }) as const);
    const plans = Array.from({ length: 150 }, (_, index) => plan(`ws-${index}`, { resources }));
    const text = renderComment(MARK, SHA, plans);
    expect(text.length).toBeGreaterThan(50_000);
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toContain('There are more workspaces, which are not listed here.');
    expect(text.match(/  ~ x{300}…\n/g)?.length).toBeGreaterThan(100);
    expect(text.match(/ more are not listed here: \[see the run\]/g)).toHaveLength(20);
    expect(text).toContain('\nChanges of 80 of these workspaces are not listed here: see their runs.\n');
  });

  it('says how many of the resources of a plan it does not list', () => {
    const resources = Array.from({ length: 1_000 }, () => ({ address: 'a.b', kind: 'update' }) as const);
    const text = renderComment(MARK, SHA, [plan('one', { resources })]);
    expect(text.match(/  ~ a\.b\n/g)).toHaveLength(200);
    expect(text).toContain('\n800 more are not listed here: [see the run](');
    expect(text).not.toContain('of these workspaces');
  });

  it('says what it does not list if the table leaves no space', () => {
    const url = `https://cadastre.example.com/${'x'.repeat(3_000)}`;
    const plans = Array.from({ length: 30 }, (_, index) => plan(`ws-${index}`, { url }));
    const text = renderComment(MARK, SHA, plans);
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toContain('There are more workspaces, which are not listed here.');
    expect(text).toMatch(/Changes of \d+ of these workspaces are not listed here/);
  });
});
