import { Alert, Anchor, Progress, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { gpgKeysQuery, registryKey } from '../../api/registry.js';
import { useChange } from '../../api/use-change.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { FormProblems } from '../../components/problems.js';
import { showToast } from '../../toasts.js';
import { AddKeyDialog } from './add-key-dialog.js';
import { publishRelease, type PublicationResult, type ReleaseProgress } from './publish-release.js';
import { PublishResult } from './publish-result.js';
import { ReleaseDrop } from './release-drop.js';
import { ReleaseError, type Release } from './release-files.js';

const COMMAND = 'goreleaser release --clean --skip=publish';

const UploadProgress = ({ progress: { file, sentBytes, totalBytes } }: { readonly progress: ReleaseProgress }) => {
  const percent = totalBytes === 0 ? 100 : Math.floor((sentBytes / totalBytes) * 100);
  return (
    <div>
      <Progress value={percent} aria-label="Upload" />
      <Text size="sm" c="dimmed" mt={4}>
        {percent} %: {file}
      </Text>
    </div>
  );
};

type PublishDialogProps = { readonly organization: string; readonly onClose: () => void };

const PublishProblem = ({ error }: { readonly error: Error | null }) =>
  error instanceof ReleaseError ? (
    <Alert color="red" role="alert">
      {error.message}
    </Alert>
  ) : (
    <FormProblems error={error} />
  );

/** Publishes releases until the dialog is closed, and collects the names of the files that it has sent. */
const usePublication = (organization: string) => {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<ReleaseProgress | null>(null);
  const [stop] = useState(() => new AbortController());
  const sent = useRef(new Set<string>());
  useEffect(() => () => stop.abort(), [stop]);
  const change = useChange({
    mutationFn: (options: { readonly release: Release; readonly keyId: string }): Promise<PublicationResult> =>
      publishRelease({
        ...options,
        organization,
        signal: stop.signal,
        onProgress: setProgress,
        // After an interruption, the files of the first attempt count as sent.
        sent: sent.current,
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: registryKey(organization) }),
    retry: false,
  });
  return { change, progress };
};

/** The key of the registry that signs a release: the chosen one, or the only one. */
const useSigningKey = (organization: string) => {
  const { data: keys } = useQuery(gpgKeysQuery(organization));
  const [chosen, onChoose] = useState<string | null>(null);
  const keyIds = (keys ?? []).map(({ attributes }) => attributes['key-id']);
  return {
    hasNoKey: keys?.length === 0,
    keyIds,
    keyId: chosen ?? (keyIds.length === 1 ? (keyIds[0] ?? null) : null),
    onChoose,
  };
};

type SigningKeyProps = ReturnType<typeof useSigningKey> & { readonly onAddKey: () => void };

const SigningKeySelect = ({ hasNoKey, keyIds, keyId, onChoose, onAddKey }: SigningKeyProps) =>
  hasNoKey ? (
    <Text size="sm">
      The registry has no GPG key yet.{' '}
      <Anchor component="button" type="button" size="sm" onClick={onAddKey}>
        Add the key that signs the release
      </Anchor>
    </Text>
  ) : (
    <Select label="GPG key that signs the release" data={keyIds} value={keyId} onChange={onChoose} />
  );

type PublishFormProps = {
  readonly organization: string;
  readonly publication: ReturnType<typeof usePublication>;
  readonly release: Release | null;
  readonly onRelease: (release: Release | null) => void;
  /** Is called after files were sent, and none was left out. */
  readonly onPublished: (release: Release) => void;
  readonly onAddKey: () => void;
  readonly onClose: () => void;
};

const PublishForm = (props: PublishFormProps) => {
  const { organization, publication, release, onRelease, onPublished, onAddKey, onClose } = props;
  const { change, progress } = publication;
  const signingKey = useSigningKey(organization);
  const { keyId } = signingKey;
  const publish = () => {
    if (release === null || keyId === null) return;
    const onSuccess = ({ skippedFiles }: PublicationResult) => {
      if (skippedFiles.length === 0) onPublished(release);
    };
    change.mutate({ release, keyId }, { onSuccess });
  };
  return (
    <Stack>
      <Text size="sm">
        Build and sign the release in the repository of the provider. The server checks checksums and the signature.
      </Text>
      <CodeBlock code={COMMAND} label="the build command" />
      <ReleaseDrop release={release} isBusy={change.isPending} onRelease={onRelease} />
      <SigningKeySelect {...signingKey} onAddKey={onAddKey} />
      <PublishProblem error={change.error} />
      {progress && <UploadProgress progress={progress} />}
      <DialogActions
        action={change.error ? 'Try again' : 'Publish'}
        isDisabled={release === null || keyId === null}
        isPending={change.isPending}
        // Closing stops the upload.
        cancel={change.isPending ? 'Stop' : 'Cancel'}
        isCancelDisabled={false}
        onAction={publish}
        onClose={onClose}
      />
    </Stack>
  );
};

/** Publishes a version from the files that GoReleaser writes. */
export const PublishDialog = ({ organization, onClose }: PublishDialogProps) => {
  const navigate = useNavigate();
  const [release, setRelease] = useState<Release | null>(null);
  const [isAddingKey, keyDialog] = useDisclosure(false);
  const publication = usePublication(organization);
  const showProvider = (provider: string) => {
    onClose();
    void navigate({ to: '/$organization/registry/$provider', params: { organization, provider } });
  };
  const confirmPublication = ({ name, version }: Release) => {
    showToast({ kind: 'success', message: `${name} ${version} is uploaded.` });
    showProvider(name);
  };
  const result = publication.change.data;
  if (isAddingKey) return <AddKeyDialog organization={organization} onClose={keyDialog.close} />;
  return (
    <Dialog onClose={onClose} size="lg" title="Publish a version">
      {result && release ? (
        <PublishResult release={release} files={result} onOpen={() => showProvider(release.name)} />
      ) : (
        <PublishForm
          {...{ organization, publication, release, onClose }}
          onRelease={setRelease}
          onAddKey={keyDialog.open}
          onPublished={confirmPublication}
        />
      )}
    </Dialog>
  );
};
