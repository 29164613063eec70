import { OPENTOFU_RELEASES, TERRAFORM_RELEASES } from './built-in-releases.js';

const [terraform, openTofu]: readonly ReadonlySet<string>[] = [new Set(TERRAFORM_RELEASES), new Set(OPENTOFU_RELEASES)];

/** Returns the tool that a version means: OpenTofu if only OpenTofu has such a release, else Terraform. */
export const findToolOfVersion = (version: string): 'terraform' | 'tofu' =>
  openTofu?.has(version) && !terraform?.has(version) ? 'tofu' : 'terraform';
