import { describe, expect, it } from '@jest/globals';
import { compare, rcompare, valid } from 'semver';
import { OPENTOFU_RELEASES, PREVIEWS, TERRAFORM_RELEASES } from './built-in-releases.js';
import { ToolReleases } from './tool-releases.catalogue.js';

const releases = new ToolReleases();
const newest = TERRAFORM_RELEASES.toSorted(rcompare)[0] ?? '';

describe('the built-in releases', () => {
  it('are unique versions, and final except for the previews', () => {
    for (const list of [TERRAFORM_RELEASES, OPENTOFU_RELEASES]) {
      expect(new Set(list).size).toBe(list.length);
      expect(list.filter((version) => valid(version) !== version || version.includes('-'))).toEqual([]);
    }
    expect(TERRAFORM_RELEASES).toEqual(expect.arrayContaining(['0.11.14', '0.12.31', '1.0.0', '1.5.7', '1.13.4']));
    expect(OPENTOFU_RELEASES).toEqual(expect.arrayContaining(['1.6.0', '1.9.4', '1.12.6']));
  });

  it('have previews of future releases only', () => {
    expect(PREVIEWS.filter((preview) => compare(preview, newest) <= 0)).toEqual([]);
  });
});

describe('a tool version', () => {
  it.each([
    ['latest', newest],
    ['1.5.7', '1.5.7'],
    ['= 1.5.7', '1.5.7'],
    ['1.5', '1.5.0'],
    ['~> 1.5.0', '1.5.7'],
    ['~> 1.5.7', '1.5.7'],
    ['>= 1.3, < 1.6', '1.5.7'],
    ['>= 1.3, < 1.6, != 1.5.7', '1.5.6'],
    ['!= 1.4.2', newest],
    ['>= 0.12', newest],
    ['< 1', '0.15.5'],
    ['<= 0.12', '0.12.0'],
    ['> 0.11.14, < 0.12', '0.11.15'],
    // Both tools have a 1.8: Terraform takes precedence, and OpenTofu matches if no Terraform release does.
    ['~> 1.8.0', '1.8.5'],
    ['~> 1.8.6', '1.8.11'],
    ['1.17.0-beta1', '1.17.0-beta1'],
    ['= 1.17.0-beta1', '1.17.0-beta1'],
  ])('%j resolves to %s', (version, release) => {
    expect(releases.problemOf(version)).toBeNull();
    expect(releases.resolve(version)).toBe(release);
  });

  it.each([
    ['9.9.9', '9.9.9 is not a known release. An operator can add releases with the setting CADASTRE_TOOL_RELEASES'],
    ['> 9', '> 9 is met by no known release. An operator can add releases with the setting CADASTRE_TOOL_RELEASES'],
    ['~> 1.17.0', expect.stringContaining('is met by no known release')],
    ['>= 1.17.0-beta1', expect.stringContaining('is met by no known release')],
    ['> 1.6, < 1.5', expect.stringContaining('is met by no known release')],
    ['newest', 'must be a release such as 1.5.7, a constraint such as ~> 1.5.0, or latest'],
    ['', expect.stringContaining('must be a release')],
  ])('%j resolves to no release', (version, problem) => {
    expect(releases.problemOf(version)).toEqual(problem);
    expect(releases.resolve(version)).toBe(version);
  });

  it('may be the version that the caller runs, if that is a version', () => {
    expect(releases.problemOf('9.9.9', '9.9.9')).toBeNull();
    expect(releases.problemOf('9.9.9-dev', '9.9.9-dev')).toBeNull();
    expect(releases.problemOf('9.9.9-rc1', '9.9.9')).toBeNull();
    expect(releases.problemOf('9.9.9-rc1', '9.9.8')).not.toBeNull();
    expect(releases.problemOf('9.9.9', '9.9.9-rc1')).not.toBeNull();
    expect(releases.problemOf('9.9.9', '9.9.8')).not.toBeNull();
    expect(releases.problemOf('mine', 'mine')).not.toBeNull();
    expect(releases.problemOf('> 9', '> 9')).not.toBeNull();
  });

  it('may be a release that the operator added, which can be the newest', () => {
    const more = new ToolReleases(['9.9.9', '9.9.10-rc1', '1.5.8', '1.5.7']);
    expect(more.latest).toBe('9.9.9');
    expect(more.resolve('~> 1.5.0')).toBe('1.5.8');
    expect(more.problemOf('9.9.10-rc1')).toBeNull();
    expect(more.resolve('> 9')).toBe('9.9.9');
  });

  describe('that the site has changed', () => {
    const settings = {
      official: true,
      enabled: true,
      beta: false,
      deprecated: true,
      deprecatedReason: null,
      archs: [],
    };
    const change = (id: string, version: string) => releases.with([{ id, version, settings }]);

    it('does not take precedence over Terraform if only OpenTofu has it', () => {
      const id = releases.list.find(({ version }) => version === '1.10.10')?.id ?? '';
      expect(change(id, '1.10.10').resolve('~> 1.10.0')).toBe('1.10.5');
    });

    it('is in the list once if the server lists it later', () => {
      const changed = change('tool-added', '1.5.7').list.filter(({ version }) => version === '1.5.7');
      expect(changed).toMatchObject([{ id: 'tool-added', settings: { deprecated: true } }]);
    });
  });
});
