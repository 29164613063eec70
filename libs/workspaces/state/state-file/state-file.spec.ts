import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '#platform/kernel';
import { parseStateFile, replaceSerial, type ParsedStateFile } from './state-file.js';
import { buildBlocksFile, HEADER_BYTES, type BlocksIndex } from './state-extract.js';
import { renderClientNames, listManagedResources, type StateResource } from './state-resources.js';

const AWS = 'provider["registry.terraform.io/hashicorp/aws"]';
const TERRAFORM = 'provider["terraform.io/builtin/terraform"]';

const parse = (file: unknown): ParsedStateFile => parseStateFile(Buffer.from(JSON.stringify(file)));

const resourcesOf = (file: ParsedStateFile): readonly StateResource[] => [...listManagedResources(file)];

const state = (parts: object = {}): object => ({
  version: 4,
  terraform_version: '1.13.4',
  serial: 7,
  lineage: '3c8a1b0e-5d7c-0f5e-9a51-6f5f1f0e7c11',
  outputs: {},
  resources: [],
  check_results: null,
  ...parts,
});

const resource = (parts: object = {}): object => ({
  mode: 'managed',
  type: 'aws_subnet',
  name: 'public',
  provider: AWS,
  instances: [{ schema_version: 1, attributes: { id: 'subnet-1' }, sensitive_attributes: [] }],
  ...parts,
});

const refusal = (bytes: Buffer): Refusal => {
  try {
    parseStateFile(bytes);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('a state file', () => {
  it('is accepted if it is empty', () => {
    expect(parse(state())).toEqual({
      format: 4,
      serial: 7,
      lineage: '3c8a1b0e-5d7c-0f5e-9a51-6f5f1f0e7c11',
      terraformVersion: '1.13.4',
      outputs: [],
      blocks: [],
      resources: 0,
      providers: {},
      modules: {},
    });
  });

  it('is accepted with only version and serial, as old clients write it', () => {
    expect(parse({ version: 4, serial: 0 })).toMatchObject({ lineage: null, terraformVersion: null, resources: 0 });
  });

  it('is accepted with a byte order mark', () => {
    expect(parseStateFile(Buffer.from(`\uFEFF${JSON.stringify(state())}`)).serial).toBe(7);
  });
});

describe('resources', () => {
  it('have the addresses that terraform prints, also in modules and with count and for_each', () => {
    const file = parse(
      state({
        resources: [
          resource(),
          resource({
            module: 'module.net',
            name: 'private',
            each: 'list',
            instances: [{ index_key: 0 }, { index_key: 1 }],
          }),
          resource({
            module: 'module.net["eu-west-1"].module.zone[2]',
            each: 'map',
            instances: [{ index_key: 'a' }, { index_key: 'with "quotes"' }],
          }),
        ],
      }),
    );
    expect(resourcesOf(file).map(({ address, module, index }) => [address, module, index])).toEqual([
      ['aws_subnet.public', 'root', null],
      ['module.net.aws_subnet.private[0]', 'module.net', '0'],
      ['module.net.aws_subnet.private[1]', 'module.net', '1'],
      ['module.net["eu-west-1"].module.zone[2].aws_subnet.public["a"]', 'module.net["eu-west-1"].module.zone[2]', 'a'],
      [
        'module.net["eu-west-1"].module.zone[2].aws_subnet.public["with \\"quotes\\""]',
        'module.net["eu-west-1"].module.zone[2]',
        'with "quotes"',
      ],
    ]);
  });

  it.each([
    ['root', 'aws_subnet.a[0]', 'root', 'aws_subnet.a[0]'],
    ['root', 'root.a', 'root', 'root.a'],
    ['module.net', 'module.net.aws_subnet.a["k"]', 'net', 'net.aws_subnet.a["k"]'],
    ['module.module', 'module.module.aws_subnet.a', 'module', 'module.aws_subnet.a'],
    [
      'module.net["a.module.b\\"]"].module.zone[2]',
      'module.net["a.module.b\\"]"].module.zone[2].aws_subnet.a',
      'net["a.module.b\\"]"].zone[2]',
      'net["a.module.b\\"]"].zone[2].aws_subnet.a',
    ],
  ])('of %s with the address %s have the client names %s and %s', (module, address, shortModule, shortAddress) =>
    expect(renderClientNames({ address, module })).toEqual({ address: shortAddress, module: shortModule }),
  );

  it('contain managed resources only, and data sources are only counted', () => {
    const file = parse(
      state({
        resources: [
          resource(),
          resource({ mode: 'data', type: 'terraform_remote_state', name: 'vpc', provider: TERRAFORM }),
          resource({ module: 'module.net', instances: [{ index_key: 0 }, { index_key: 1 }] }),
          resource({ name: 'gone', instances: [] }),
        ],
      }),
    );
    expect(resourcesOf(file)).toHaveLength(file.resources);
    expect(file.resources).toBe(3);
    expect(file.providers).toEqual({ [AWS]: { 'aws-subnet': 3 }, [TERRAFORM]: { 'data.terraform-remote-state': 1 } });
    expect(file.modules).toEqual({
      root: { 'aws-subnet': 1, 'data.terraform-remote-state': 1 },
      'module.net': { 'aws-subnet': 2 },
    });
  });

  it('have no list of blocks in a document if it would exceed 1 MiB', () => {
    const blocks = (count: number) =>
      buildBlocksFile(parse(state({ resources: Array.from({ length: count }, () => resource()) })));
    const indexOf = (file: Uint8Array) =>
      JSON.parse(Buffer.from(file.subarray(HEADER_BYTES)).toString()) as BlocksIndex;
    expect(indexOf(blocks(2))).toHaveLength(2);
    expect(indexOf(blocks(20_000))).toBeNull();
  });

  it('are counted once while one object of an instance waits to be destroyed', () => {
    const file = parse(state({ resources: [resource({ instances: [{ deposed: '00000001' }, {}] })] }));
    expect(file.resources).toBe(1);
  });

  it.each([
    [AWS, 'hashicorp/aws'],
    ['module.a.provider["registry.opentofu.org/hashicorp/null"].west', 'hashicorp/null'],
    [TERRAFORM, 'builtin/terraform'],
    ['provider.aws', 'provider.aws'],
  ])('of %s belong to %s', (provider, name) => {
    expect(resourcesOf(parse(state({ resources: [resource({ provider })] })))[0]?.provider).toBe(name);
  });
});

describe('outputs', () => {
  it.each([
    ['string', 'x', 'string'],
    ['number', 4.5, 'number'],
    ['bool', false, 'bool'],
    [['list', 'string'], ['a'], 'array'],
    [['set', 'number'], [1], 'array'],
    [['tuple', ['string', 'number', 'bool']], ['x', 1, false], 'array'],
    [['map', 'string'], { a: '1' }, 'object'],
    [['object', { name: 'string', list: ['tuple', ['string']], nested: ['object', {}, []] }], { name: 'n' }, 'object'],
    ['dynamic', null, 'dynamic'],
    ['dynamic', [1], 'array'],
  ])('of type %j are described with one word', (type, value, word) => {
    const file = parse(state({ outputs: { it: { value, type } } }));
    const described = file.outputs.map((output) => ({
      ...output,
      value: JSON.parse(Buffer.from(output.value).toString()),
    }));
    expect(described).toEqual([{ name: 'it', sensitive: false, type: word, detailedType: type, value }]);
  });

  it('show which of them are sensitive', () => {
    const outputs = { open: { value: 1, type: 'number' }, secret: { value: 's', type: 'string', sensitive: true } };
    expect(parse(state({ outputs })).outputs.map(({ name, sensitive }) => [name, sensitive])).toEqual([
      ['open', false],
      ['secret', true],
    ]);
  });

  it('have no detailed type if the file has none', () => {
    expect(parse(state({ outputs: { it: { value: true } } })).outputs[0]).toMatchObject({
      type: 'bool',
      detailedType: null,
    });
  });

  it('can have any name', () => {
    const outputs = '{"version":4,"serial":1,"outputs":{"__proto__":{"value":1,"type":"number"}}}';
    expect(parseStateFile(Buffer.from(outputs)).outputs[0]?.name).toBe('__proto__');
  });
});

describe('a file that is not a state file', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 'string' : ['list', deep(depth - 1)]);
  const cases: readonly [string, unknown, RegExp][] = [
    ['a list', [], /not an object/],
    ['null', null, /not an object/],
    ['another document', { format_version: '1.0' }, /not a state/],
    ['a version that is a text', { version: '4', serial: 1 }, /not a state/],
    ['a later format', { version: 5, serial: 1 }, /format is 5, only 1 to 4 are supported/],
    ['the format 0', { version: 0, serial: 1 }, /format is 0/],
    [
      'an old format without an object as a module',
      { version: 3, serial: 1, modules: [7] },
      /a module is not an object/,
    ],
    [
      'an old format with an address that is none',
      { version: 1, serial: 1, modules: [{ path: ['root'], resources: { web: { primary: {} } } }] },
      /the address of a resource is not valid/,
    ],
    ['no serial', { version: 4 }, /serial/],
    ['a fractional serial', { version: 4, serial: 1.5 }, /serial/],
    ['resources as an object', state({ resources: {} }), /resources is not a list/],
    ['a resource without a type', state({ resources: [resource({ type: undefined })] }), /type of a resource/],
    ['an instance that is a number', state({ resources: [resource({ instances: [1] })] }), /instance/],
    ['an index that is a list', state({ resources: [resource({ instances: [{ index_key: [] }] })] }), /instance/],
    ['outputs in a list', state({ outputs: [] }), /outputs is not an object/],
    ['an output that is a text', state({ outputs: { a: 'x' } }), /output "a" is not an object/],
    ['an unknown type', state({ outputs: { a: { value: 1, type: ['pair', 'string'] } } }), /type of output "a"/],
    ['a type that nests too deep', state({ outputs: { a: { value: 1, type: deep(200) } } }), /type of output "a"/],
    [
      'a value that nests too deep',
      state({ outputs: { a: { value: deep(600), type: 'dynamic' } } }),
      /value of output "a"/,
    ],
    ['a name that is too long', state({ outputs: { ['n'.repeat(256)]: { value: 1 } } }), /longer than 255/],
    [
      'more outputs than fit into an event',
      state({ outputs: Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`o${n}`, { value: n }])) }),
      /more than 5000 outputs/,
    ],
    ['a name with NUL', state({ outputs: { 'a\0b': { value: 1, type: 'number' } } }), /not allowed/],
    ['a name with an unpaired surrogate', state({ resources: [resource({ name: '\ud800' })] }), /not allowed/],
  ];

  it.each(cases)('is refused: %s', (_name, file, detail) => {
    const refused = refusal(Buffer.from(JSON.stringify(file)));
    expect(refused.kind).toBe('unprocessable');
    expect(refused.message).toMatch(detail);
  });

  it.each([Buffer.alloc(0), Buffer.from('{"version":4'), Buffer.from([0xff, 0xfe, 0x7b]), Buffer.from('hunter2')])(
    'is refused without quoting it: %j',
    (bytes) => {
      const refused = refusal(bytes);
      expect(refused.kind).toBe('unprocessable');
      expect(refused.message).toBe('The state file cannot be read: it is not JSON');
    },
  );
});

it('a state that OpenTofu has encrypted is accepted with only its serial and lineage', () => {
  const encrypted = {
    serial: 3,
    lineage: 'a-b',
    meta: { 'key_provider.pbkdf2.main': 'eyJzYWx0Ijo…' },
    encrypted_data: 'c2VhbGVk',
    encryption_version: 'v0',
  };
  expect(parse(encrypted)).toMatchObject({ serial: 3, lineage: 'a-b', outputs: [], resources: 0, providers: {} });
});

describe('replacing the serial of a state', () => {
  const changed = (text: string, serial = 12): string => replaceSerial(Buffer.from(text), serial).toString();

  it('changes no other byte, so that numbers that JavaScript cannot represent stay the same', () => {
    const text = (serial: number): string =>
      `{\n  "version": 4,\n  "serial" :\t${serial}\n,"resources":[{"mode":"managed","type":"t","name":"n","provider":"p",` +
      `"instances":[{"attributes":{"id":9007199254740993,"serial":7,"f":1.50,"s":"é \\"serial\\": 7 \\\\"}}]}]}\n\n`;
    expect(changed(text(7))).toBe(text(12));
    expect(changed(text(7), 0)).toBe(text(0));
  });

  it.each([
    ['is the last member', '{"version":4,"serial":7}', '{"version":4,"serial":12}'],
    ['is the first member', '{"serial":7,"version":4}', '{"serial":12,"version":4}'],
    ['is written with escapes', '{"version":4,"s\\u0065rial":7}', '{"version":4,"s\\u0065rial":12}'],
    ['occurs twice', '{"serial":1,"version":4,"serial":7}', '{"serial":12,"version":4,"serial":12}'],
    ['is also a value', '{"lineage":"serial","version":4,"serial":7}', '{"lineage":"serial","version":4,"serial":12}'],
    [
      'is also the name of an output',
      '{"version":4,"outputs":{"serial":{"value":7}},"serial":7}',
      '{"version":4,"outputs":{"serial":{"value":7}},"serial":12}',
    ],
  ])('finds it if it %s', (_name, before, after) => {
    expect(changed(before)).toBe(after);
    expect(parseStateFile(Buffer.from(after)).serial).toBe(12);
  });

  it('changes only the serial of any state', () => {
    const value = fc.jsonValue();
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.nat(), fc.nat(), (attributes, before, after) => {
        const file = (serial: number): string =>
          JSON.stringify({ version: 4, attributes, serial, lineage: 'serial', outputs: {}, more: [attributes] });
        expect(changed(file(before), after)).toBe(file(after));
      }),
    );
  });
});

describe('a state in the formats of Terraform 0.11 and older', () => {
  const resource = (type: string, more: object = {}): object => ({ type, primary: { id: 'i' }, ...more });
  const modules = (outputs: object): object[] => [
    {
      path: ['root'],
      outputs,
      resources: {
        'aws_instance.web.0': resource('aws_instance', { provider: 'provider.aws' }),
        'aws_instance.web.1': resource('aws_instance', { provider: 'provider.aws' }),
        'data.aws_ami.base': resource('aws_ami'),
        'aws_eip.gone': { type: 'aws_eip', primary: null, deposed: [{ id: 'i' }] },
      },
    },
    { path: ['root', 'net', 'zone'], outputs: { hidden: 'x' }, resources: { 'aws_subnet.a': resource('aws_subnet') } },
  ];
  const read = (state: object) => parseStateFile(Buffer.from(JSON.stringify(state)));
  const valuesOf = (outputs: ReturnType<typeof read>['outputs']) =>
    outputs.map(({ value, ...output }) => ({ ...output, value: JSON.parse(Buffer.from(value).toString()) as unknown }));

  it.each([2, 3])('has its outputs and resources in format %i', (version) => {
    const outputs = {
      id: { sensitive: false, type: 'string', value: 'vpc-1' },
      keys: { sensitive: true, type: 'list', value: ['a'] },
      tags: { sensitive: false, type: 'map', value: { a: 'b' } },
    };
    const state = read({ version, terraform_version: '0.11.14', serial: 12, lineage: 'l', modules: modules(outputs) });
    expect(state).toMatchObject({
      format: version,
      serial: 12,
      lineage: 'l',
      terraformVersion: '0.11.14',
      resources: 3,
      providers: { 'provider.aws': { 'aws-instance': 2, 'data.aws-ami': 1, 'aws-subnet': 1 } },
      modules: { root: { 'aws-instance': 2, 'data.aws-ami': 1 }, 'module.net.module.zone': { 'aws-subnet': 1 } },
    });
    expect(state.blocks).toEqual([
      { managed: true, type: 'aws_instance', name: 'web', module: null, provider: 'provider.aws', indexes: [0, 1] },
      { managed: false, type: 'aws_ami', name: 'base', module: null, provider: 'provider.aws', indexes: [null] },
      {
        managed: true,
        type: 'aws_subnet',
        name: 'a',
        module: 'module.net.module.zone',
        provider: 'provider.aws',
        indexes: [null],
      },
    ]);
    expect(valuesOf(state.outputs)).toEqual([
      { name: 'id', sensitive: false, type: 'string', detailedType: null, value: 'vpc-1' },
      { name: 'keys', sensitive: true, type: 'array', detailedType: null, value: ['a'] },
      { name: 'tags', sensitive: false, type: 'object', detailedType: null, value: { a: 'b' } },
    ]);
  });

  it('has its outputs in format 1, without a lineage and a version of Terraform', () => {
    const state = read({ version: 1, serial: 3, modules: modules({ id: 'vpc-1' }) });
    expect(state).toMatchObject({ format: 1, serial: 3, lineage: null, terraformVersion: null, resources: 3 });
    expect(valuesOf(state.outputs)).toEqual([
      { name: 'id', sensitive: false, type: 'string', detailedType: null, value: 'vpc-1' },
    ]);
  });

  it('may be empty', () => {
    expect(
      read({ version: 3, serial: 0, lineage: 'l', modules: [{ path: ['root'], outputs: {}, resources: {} }] }),
    ).toMatchObject({
      resources: 0,
      outputs: [],
    });
    expect(read({ version: 1, serial: 0, modules: null })).toMatchObject({ resources: 0, outputs: [] });
  });

  it('refuses a name of an output that is too long, and too many outputs', () => {
    const refused = (outputs: object) => () => read({ version: 3, serial: 1, modules: [{ path: ['root'], outputs }] });
    expect(refused({ ['n'.repeat(256)]: 'x' })).toThrow(/longer than 255/);
    expect(refused(Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`o${n}`, 'x'])))).toThrow(
      /more than 5000 outputs/,
    );
  });
});
