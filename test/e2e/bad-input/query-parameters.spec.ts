import { describe, it } from '@jest/globals';
import { describeRefusals, WORKSPACES } from './bad-requests.js';

const { expectRefusal } = describeRefusals();

const PROJECTS = '/api/v2/organizations/acme/projects';

const repeated = (times: number, value: string): string => Array<string>(times).fill(value).join(',');

const tagged = (count: number): string =>
  Array.from({ length: count }, (_, n) => `filter[tagged][${n}][key]=k${n}&filter[tagged][${n}][value]=v`).join('&');

type Case = readonly [detail: string, path: string, as: string | undefined];

describe('a parameter of a list', () => {
  it.each<Case>(
    [
      [`${WORKSPACES}?${tagged(11)}`, 'filter[tagged]: must have at most 10 tags, got 11'],
      [`${PROJECTS}?${tagged(11)}`, 'filter[tagged]: must have at most 10 tags, got 11'],
      [
        `/api/v2/organizations/not-there/workspaces?${tagged(200)}`,
        'filter[tagged]: must have at most 10 tags, got 200',
        '{otherToken}',
      ],
      [
        `${WORKSPACES}?filter[tagged][0][key]=${'k'.repeat(256)}`,
        'filter[tagged][0][key]: must have at most 255 characters, got 256',
      ],
      [`${WORKSPACES}?search[tags]=${repeated(101, 'a')}`, 'search[tags]: must have at most 100 values, got 101'],
      [
        `${WORKSPACES}?search[exclude-tags]=${repeated(101, 'a')}`,
        'search[exclude-tags]: must have at most 100 values, got 101',
      ],
      [
        `${WORKSPACES}?search[wildcard-name]=${'*a'.repeat(128)}`,
        'search[wildcard-name]: must have at most 255 characters, got 256',
      ],
      [`${WORKSPACES}?include=${repeated(101, 'project')}`, 'include: must have at most 100 values, got 101'],
      [`${WORKSPACES}?sort=${'x'.repeat(300)}`, 'sort: must have at most 255 characters, got 300'],
      [
        `${WORKSPACES}?${Array<string>(11).fill('search[name]=a').join('&')}`,
        'search[name]: must be sent at most 10 times, got 11',
      ],
      [`${PROJECTS}?filter[names]=${repeated(101, 'a')}`, 'filter[names]: must have at most 100 values, got 101'],
      [
        '/api/v2/organizations/acme/teams?filter[names]=' + repeated(101, 'a'),
        'filter[names]: must have at most 100 values, got 101',
      ],
      [
        '/api/v2/organizations/acme/runs?filter[workspace_names]=' + repeated(101, 'a'),
        'filter[workspace_names]: must have at most 100 values, got 101',
      ],
      [`/api/v2/organizations?q=${'x'.repeat(256)}`, 'q: must have at most 255 characters, got 256'],
      [
        `/api/v2/organization/audit-trail?filter[actor]=${repeated(101, 'ada')}`,
        'filter[actor]: must have at most 100 values, got 101',
        '{acmeToken}',
      ],
    ].map(([path = '', detail = '', as]): Case => [detail, path, as]),
  )('is refused with an error that names parameter, limit and value: %s', async (detail, path, as) => {
    await expectRefusal({
      title: '',
      send: `GET ${path}`,
      status: 400,
      problems: [[null, detail]],
      ...(as === undefined ? {} : { as }),
    });
  });
});
