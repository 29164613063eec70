import { isStorable } from './cty-type.js';
import {
  compactJson,
  findMembers,
  findValueEnd,
  forEachElement,
  forEachMember,
  getJsonKind,
  type JsonSpan,
} from './json-scan.js';
import {
  createStateFileRefusal,
  findList,
  isAbsent,
  parseOptionalText,
  parseText,
  requireObject,
} from './state-fields.js';
import {
  checkInstanceCount,
  checkOutputNames,
  parseOutputValue,
  type ResourceBlock,
  type StateOutput,
} from './state-content.js';

/*
 * State files in the formats 1, 2 and 3, of Terraform 0.11 and older. The server accepts them, because people copy the
 * history of their states. The files list resources by module:
 *
 *   modules   [{ path: ["root", "net"], outputs: { name: output }, resources: { "aws_vpc.main.0": resource } }]
 *   output    format 1: a string; formats 2 and 3: { sensitive, type: "string" | "list" | "map", value }
 *   resource  { type, provider, primary, deposed }; the key has the mode, the name and the index from `count`
 *
 * The formats 2 and 3 differ only in the attributes of resources, which this file does not read.
 */

type OldModules = { readonly outputs: readonly StateOutput[]; readonly blocks: readonly ResourceBlock[] };

const ROOT = 'root';

/** Returns the address of a module by its path, such as `module.net.module.zone`; null for the root module. */
const parsePath = (bytes: Uint8Array, span: JsonSpan | undefined): string | null => {
  const names: string[] = [];
  const list = findList(bytes, span, 'the path of a module');
  if (list) {
    forEachElement(bytes, list.from, (from) => {
      const to = findValueEnd(bytes, from);
      names.push(parseText(bytes, { from, to }, 'the path of a module'));
      return to;
    });
  }
  const below = names[0] === ROOT ? names.slice(1) : names;
  return below.length === 0 ? null : below.map((name) => `module.${name}`).join('.');
};

const forEachOptionalMember = (
  bytes: Uint8Array,
  span: JsonSpan | undefined,
  what: string,
  handle: (name: string, span: JsonSpan) => void,
): void => {
  if (isAbsent(bytes, span)) return;
  forEachMember(bytes, requireObject(bytes, span.from, what), (name, from) => {
    const to = findValueEnd(bytes, from);
    handle(name, { from, to });
    return to;
  });
};

/** Types of outputs in the formats 2 and 3, as documents name them. */
const OUTPUT_TYPES: ReadonlyMap<string | null, string> = new Map([
  ['list', 'array'],
  ['map', 'object'],
]);

const parseOldOutput = (bytes: Uint8Array, name: string, span: JsonSpan): StateOutput => {
  const what = `output ${JSON.stringify(name)}`;
  if (getJsonKind(bytes, span) === 'string') {
    return { name, sensitive: false, type: 'string', detailedType: null, value: compactJson(bytes, span) };
  }
  const { spans } = findMembers(bytes, requireObject(bytes, span.from, what), ['sensitive', 'type', 'value']);
  const type = parseOptionalText(bytes, spans.type, `the type of ${what}`);
  const output = parseOutputValue(bytes, name, spans.sensitive, spans.value);
  return { ...output, type: OUTPUT_TYPES.get(type) ?? type ?? output.type, detailedType: null };
};

/** A key such as `data.aws_ami.base.0`: an optional mode, the type, the name, and an optional index. */
const RESOURCE_KEY = /^(data\.)?([^.]+)\.(.+?)(?:\.(\d+))?$/;

type OldResource = Omit<ResourceBlock, 'indexes'> & { readonly index: number | null };

const parseResource = (bytes: Uint8Array, key: string, span: JsonSpan, module: string | null): OldResource | null => {
  const { spans } = findMembers(bytes, requireObject(bytes, span.from, 'a resource'), ['provider', 'primary']);
  // Without `primary`, only former objects of the resource await their deletion, so it has no instance.
  if (isAbsent(bytes, spans.primary)) return null;
  const [, mode, type, name, index] = RESOURCE_KEY.exec(key) ?? [];
  if (type === undefined || name === undefined || !isStorable(key) || key.length > 4096) {
    throw createStateFileRefusal('the address of a resource is not valid');
  }
  return {
    managed: mode === undefined,
    type,
    name,
    module,
    // Without this member, Terraform derives the provider from the first word of the type.
    provider:
      parseOptionalText(bytes, spans.provider, 'the provider of a resource') ??
      `provider.${type.split('_')[0] ?? type}`,
    index: index === undefined ? null : Number(index),
  };
};

/** Collects instances into blocks, as format 4 lists them. */
class BlockCollector {
  private readonly blocks = new Map<string, Omit<ResourceBlock, 'indexes'> & { readonly indexes: (number | null)[] }>();
  private instances = 0;

  add({ index, ...block }: OldResource): void {
    this.instances += 1;
    checkInstanceCount(this.instances);
    const { managed, type, name, module, provider } = block;
    const key = JSON.stringify([managed, type, name, module, provider]);
    const existing = this.blocks.get(key);
    if (existing) existing.indexes.push(index);
    else this.blocks.set(key, { ...block, indexes: [index] });
  }

  list(): readonly ResourceBlock[] {
    return [...this.blocks.values()];
  }
}

/** Parses the modules of a state in format 1, 2 or 3. Only the outputs of the root module are outputs of the state. */
export const parseOldModules = (bytes: Uint8Array, modules: JsonSpan | undefined): OldModules => {
  const blocks = new BlockCollector();
  const outputs = new Map<string, StateOutput>();
  const list = findList(bytes, modules, 'modules');
  if (list) {
    forEachElement(bytes, list.from, (element) => {
      const { spans, to } = findMembers(bytes, requireObject(bytes, element, 'a module'), [
        'path',
        'outputs',
        'resources',
      ]);
      const module = parsePath(bytes, spans.path);
      forEachOptionalMember(bytes, spans.resources, 'the resources of a module', (key, span) => {
        const resource = parseResource(bytes, key, span, module);
        if (resource) blocks.add(resource);
      });
      if (module === null) {
        forEachOptionalMember(bytes, spans.outputs, 'outputs', (name, span) => {
          outputs.set(name, parseOldOutput(bytes, name, span));
          checkOutputNames(outputs.size, name);
        });
      }
      return to;
    });
  }
  return { outputs: [...outputs.values()], blocks: blocks.list() };
};
