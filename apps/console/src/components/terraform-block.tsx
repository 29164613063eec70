import { CodeBlock } from './copy.js';

/** Returns the block that connects a configuration to a workspace of this server. */
const formatTerraformBlock = (organization: string, workspace: string): string => `terraform {
  cloud {
    hostname     = "${window.location.host}"
    organization = "${organization}"
    workspaces { name = "${workspace}" }
  }
}`;

type TerraformBlockProps = {
  readonly organization: string;
  readonly workspace: string;
  /** Distinguishes the block from another one on the screen. */
  readonly label?: string;
};

export const TerraformBlock = ({ organization, workspace, label = 'the terraform block' }: TerraformBlockProps) => (
  <CodeBlock code={formatTerraformBlock(organization, workspace)} label={label} />
);
