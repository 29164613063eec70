import { OPENTOFU_RELEASES, TERRAFORM_RELEASES } from './built-in-releases.js';

/** The programs that plan and apply. */
export type ToolName = 'terraform' | 'tofu';

const [terraform, openTofu]: readonly ReadonlySet<string>[] = [new Set(TERRAFORM_RELEASES), new Set(OPENTOFU_RELEASES)];

/** Returns the tool that a version means: OpenTofu if only OpenTofu has such a release, else Terraform. */
export const findToolOfVersion = (version: string): ToolName =>
  openTofu?.has(version) && !terraform?.has(version) ? 'tofu' : 'terraform';
