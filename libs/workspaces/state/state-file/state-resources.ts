import type { ParsedStateFile } from './state-file.js';

export type StateResource = {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  /** `root`, or the address of the module. */
  readonly module: string;
  /** Namespace and name, such as `hashicorp/aws`. */
  readonly provider: string;
  /** Key from `count` or `for_each`. */
  readonly index: string | null;
};

const PROVIDER = /provider\["([^"]+)"\]/;

/** Returns `hashicorp/aws` for `module.a.provider["registry.terraform.io/hashicorp/aws"].west`. */
const formatProviderName = (provider: string): string =>
  (PROVIDER.exec(provider)?.[1] ?? provider).split('/').slice(-2).join('/');

/** A step of a module's address: `module.zone`, `module.zone[2]`, `module.zone["a.module.b"]`. */
const MODULE_STEP = /module\.([^.[\]]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?)(\.|$)/g;

/**
 * Returns the names that clients expect of a resource: those of Terraform without `module.`, such as
 * `net["eu"].zone.aws_subnet.public[0]` in the module `net["eu"].zone`. Stored extracts keep the names of Terraform.
 */
export const renderClientNames = ({
  address,
  module,
}: Pick<StateResource, 'address' | 'module'>): Pick<StateResource, 'address' | 'module'> => {
  if (!address.startsWith(`${module}.`)) return { address, module };
  const short = module.replace(MODULE_STEP, '$1$2');
  return { address: `${short}${address.slice(module.length)}`, module: short };
};

/** Yields each managed resource instance of the state. */
export const listManagedResources = function* ({ blocks }: ParsedStateFile): Generator<StateResource> {
  for (const { managed, type, name, module, provider, indexes } of blocks) {
    if (!managed) continue;
    const address = `${module === null ? '' : `${module}.`}${type}.${name}`;
    for (const index of indexes) {
      yield {
        address: index === null ? address : `${address}[${JSON.stringify(index)}]`,
        type,
        name,
        module: module ?? 'root',
        provider: formatProviderName(provider),
        index: index === null ? null : String(index),
      };
    }
  }
};
