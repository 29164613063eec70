import type { Phase } from '../api/executor-api.js';
import { RunError } from '../executor-error.js';

/** A setting of dynamic credentials is missing or wrong. The message names the variable. */
export class CredentialError extends RunError {}

/** Several configurations of one provider differ by their tag: `TFC_AWS_PROVIDER_AUTH_EAST`. Null for the one without a tag. */
type CredentialTag = string | null;

const ENABLED = /^TFC_([A-Z]+)_PROVIDER_AUTH(?:_(.+))?$/;
const GENERIC = /^TFC_WORKLOAD_IDENTITY_AUDIENCE(?:_(.+))?$/;

/**
 * Reads the variables of dynamic credentials. The values for the phase precede those for both phases, and values of the tag
 * precede the defaults.
 *
 * @see https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/specific-configurations
 */
export class CredentialSettings {
  constructor(
    private readonly environment: ReadonlyMap<string, string>,
    /** A plan may have fewer rights in the cloud than its apply. */
    private readonly phase: Phase,
  ) {}

  /** Returns the tags of the configurations of a provider that are switched on. */
  listTags(provider: string): readonly CredentialTag[] {
    return [...this.environment].flatMap(([name, value]) => {
      const [, enabled, tag = null] = ENABLED.exec(name) ?? [];
      return enabled === provider && value === 'true' ? [tag] : [];
    });
  }

  /** Returns the tags and audiences of the tokens that the configuration uses itself. */
  listGenericAudiences(): readonly { readonly tag: CredentialTag; readonly audience: string }[] {
    return [...this.environment].flatMap(([name, audience]) => {
      const match = GENERIC.exec(name);
      return match && audience !== '' ? [{ tag: match[1] ?? null, audience }] : [];
    });
  }

  /** Returns the value of `TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE`, for example. */
  find(provider: string, name: string, tag: CredentialTag): string | undefined {
    return this.findFirst(addTag([`TFC_${provider}_${name}`], [`TFC_DEFAULT_${provider}_${name}`], tag));
  }

  /** Returns the value of `TFC_AWS_PLAN_ROLE_ARN`, else of `TFC_AWS_RUN_ROLE_ARN`, for example. */
  findOfPhase(provider: string, name: string, tag: CredentialTag): string | undefined {
    return this.findFirst(this.listPhaseNames(provider, name, tag));
  }

  requireOfPhase(provider: string, name: string, tag: CredentialTag): string {
    return this.findOfPhase(provider, name, tag) ?? missing(this.listPhaseNames(provider, name, tag));
  }

  require(provider: string, name: string, tag: CredentialTag): string {
    return (
      this.find(provider, name, tag) ??
      missing(addTag([`TFC_${provider}_${name}`], [`TFC_DEFAULT_${provider}_${name}`], tag))
    );
  }

  private listPhaseNames(provider: string, name: string, tag: CredentialTag): readonly string[] {
    const phases = [this.phase.toUpperCase(), 'RUN'];
    return addTag(
      phases.map((phase) => `TFC_${provider}_${phase}_${name}`),
      phases.map((phase) => `TFC_DEFAULT_${provider}_${phase}_${name}`),
      tag,
    );
  }

  private findFirst(names: readonly string[]): string | undefined {
    return names.map((name) => this.environment.get(name)).find((value) => value !== undefined && value !== '');
  }
}

const addTag = (names: readonly string[], defaults: readonly string[], tag: CredentialTag): readonly string[] =>
  tag === null ? names : [...names.map((name) => `${name}_${tag}`), ...defaults];

const missing = (names: readonly string[]): never => {
  throw new CredentialError(
    `Dynamic credentials need the environment variable ${names.join(' or ')}. Set it in the workspace or in a variable set.`,
  );
};
