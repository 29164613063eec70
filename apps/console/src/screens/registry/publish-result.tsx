import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { PublicationResult } from './publish-release.js';
import type { Release } from './release-files.js';

const FileList = ({ title, names }: { readonly title: string; readonly names: readonly string[] }) =>
  names.length > 0 && (
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      <strong>{title}</strong> {names.join(', ')}
    </Text>
  );

type ResultProps = {
  readonly release: Release;
  readonly files: PublicationResult;
  readonly onOpen: () => void;
};

/** Names the files that were sent, and those that the server had already. */
export const PublishResult = ({
  release: { name, version },
  files: { sentFiles, skippedFiles },
  onOpen,
}: ResultProps) => (
  <Stack>
    <Alert
      color={sentFiles.length > 0 ? 'green' : 'yellow'}
      variant="light"
      role="status"
      title={sentFiles.length > 0 ? `${name} ${version} is uploaded` : 'Nothing was sent'}
    >
      {sentFiles.length === 0 && (
        <Text size="sm">
          {name} {version} was published already. The server has the same files.
        </Text>
      )}
      <FileList title="Sent:" names={sentFiles} />
      <FileList title="Already there, and left alone:" names={skippedFiles} />
    </Alert>
    <Group justify="flex-end">
      <Button data-autofocus onClick={onOpen}>
        Show the provider
      </Button>
    </Group>
  </Stack>
);
