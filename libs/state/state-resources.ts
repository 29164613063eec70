import type { StateFile } from './state-file.js';

export type StateResource = {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  /** `root`, or the module's address. */
  readonly module: string;
  /** Namespace and name, such as `hashicorp/aws`. */
  readonly provider: string;
  /** The key given by `count` or `for_each`. */
  readonly index: string | null;
};

const PROVIDER = /provider\["([^"]+)"\]/;

/** `module.a.provider["registry.terraform.io/hashicorp/aws"].west` → `hashicorp/aws` */
const providerName = (provider: string): string =>
  (PROVIDER.exec(provider)?.[1] ?? provider).split('/').slice(-2).join('/');

/** Each managed resource instance of the state. */
export const managedResources = function* ({ blocks }: StateFile): Generator<StateResource> {
  for (const { managed, type, name, module, provider, indexes } of blocks) {
    if (!managed) continue;
    const address = `${module === null ? '' : `${module}.`}${type}.${name}`;
    for (const index of indexes) {
      yield {
        address: index === null ? address : `${address}[${JSON.stringify(index)}]`,
        type,
        name,
        module: module ?? 'root',
        provider: providerName(provider),
        index: index === null ? null : String(index),
      };
    }
  }
};
