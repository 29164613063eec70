import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Parser, type Diagnostic } from '@asyncapi/parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';

const readReference = (name: string): Promise<string> => readFile(join(ROOT, 'docs/reference', name), 'utf8');

const lintOpenApi = async (source: string): Promise<readonly string[]> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The API of HCP Terraform has such paths. The router prefers a name over a parameter.
      'no-ambiguous-paths': 'off',
      // Some operations only redirect, and some always refuse.
      'operation-2xx-response': 'off',
      // Requests may have members that the server ignores, such as the type in an identifier.
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    },
  });
  const problems = await lintFromString({ source, config, absoluteRef: '/openapi.json' });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
};

const SEVERITY_WARNING: Diagnostic['severity'] = 1;

const lintAsyncApi = async (source: string): Promise<readonly string[]> => {
  const { diagnostics } = await new Parser().parse(source);
  const problems = diagnostics.filter(({ severity }) => severity <= SEVERITY_WARNING);
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('.')})`);
};

describe('Redocly', () => {
  it('finds no fault in the OpenAPI document', async () => {
    expect(await lintOpenApi(await readReference('openapi.json'))).toEqual([]);
  });

  it('reports a reference to a missing schema', async () => {
    const source = (await readReference('openapi.json')).replace(
      '"#/components/schemas/Workspace"',
      '"#/components/schemas/Gone"',
    );
    expect(await lintOpenApi(source)).toEqual([expect.stringMatching(/^no-unresolved-refs: /)]);
  });
});

describe('the parser of AsyncAPI', () => {
  it('accepts the AsyncAPI document', async () => {
    expect(await lintAsyncApi(await readReference('asyncapi.json'))).toEqual([]);
  });

  it('refuses a document without channels for its operations', async () => {
    const document = JSON.parse(await readReference('asyncapi.json')) as Record<string, unknown>;
    expect(await lintAsyncApi(JSON.stringify({ ...document, channels: {} }))).not.toEqual([]);
  });
});
