import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { CodeBlock } from '../../components/copy.js';
import { CheckIcon, TagIcon } from '../../components/icons.js';
import { EmptyState } from '../../components/states.js';

const TAGS_BLOCK = `resource "tfe_workspace" "network" {
  name = "network"
  tags = { env = "prod" }
}`;

/** The next step if no workspace has a gap. */
export const NoGap = ({
  hasReservedKeys,
  organization,
}: {
  readonly hasReservedKeys: boolean;
  readonly organization: string;
}) => {
  const navigate = useNavigate();
  if (hasReservedKeys) {
    return (
      <EmptyState icon={CheckIcon} title="No workspace has a gap">
        <Text>Every workspace that you may read has a value for each reserved key.</Text>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={TagIcon} title="No key is reserved">
      <Text>A gap is a workspace without a value for a reserved key. Reserve the keys that every workspace needs.</Text>
      <div>
        <Button onClick={() => void navigate({ to: '/$organization/tags/reserved', params: { organization } })}>
          Reserved keys
        </Button>
      </div>
    </EmptyState>
  );
};

/** The next step if no workspace of the list has a tag. */
export const NoTag = () => (
  <EmptyState icon={TagIcon} title="No workspace here has a tag">
    <Text>Bind tags to workspaces or to projects, whose workspaces inherit them. With the provider tfe:</Text>
    <CodeBlock code={TAGS_BLOCK} label="the resource" />
  </EmptyState>
);
