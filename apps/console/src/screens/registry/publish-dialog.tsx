import '@mantine/dropzone/styles.layer.css';
import { Alert, Button, Progress, Select, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { gpgKeysQuery, registryKey } from '../../api/registry.js';
import { useChange } from '../../api/use-change.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';
import { publishRelease, type PublishedFiles, type ReleaseProgress } from './publish-release.js';
import { PublishResult } from './publish-result.js';
import { readRelease, ReleaseError, type Release } from './release-files.js';
import classes from './registry.module.css';

const COMMAND = 'goreleaser release --clean --skip=publish';

const ReleaseSummary = ({ release: { name, version, archives, protocols } }: { readonly release: Release }) => (
  <Text size="sm">
    Provider <strong>{name}</strong>, version <strong>{version}</strong>, protocol {protocols.join(', ')}, platforms:{' '}
    {archives.map(({ os, arch }) => `${os}/${arch}`).join(', ')}
  </Text>
);

type FilesProps = {
  readonly release: Release | null;
  readonly isBusy: boolean;
  readonly onRelease: (release: Release | null) => void;
};

/** Takes the files of a release. */
const ReleaseDrop = ({ release, isBusy, onRelease }: FilesProps) => {
  const [problem, setProblem] = useState<string | null>(null);
  const open = useRef<() => void>(null);
  const take = (files: readonly File[]) => {
    const show = (release: Release | null, message: string | null) => {
      onRelease(release);
      setProblem(message);
    };
    void readRelease(files).then(
      (release) => show(release, null),
      ({ message }: Error) => show(null, message),
    );
  };
  return (
    <>
      <Dropzone
        openRef={open}
        activateOnClick={false}
        activateOnKeyboard={false}
        disabled={isBusy}
        onDrop={take}
        className={classes['drop']}
        inputProps={{ 'aria-label': 'Files of the release' }}
        attributes={{ root: { role: 'group', 'aria-label': 'Drop the files of the release here' } }}
        enablePointerEvents
        tabIndex={-1}
      >
        <Stack gap="xs" align="center">
          {release ? (
            <ReleaseSummary release={release} />
          ) : (
            <Text size="sm">Drop all files of the folder dist here.</Text>
          )}
          <Button variant="default" disabled={isBusy} onClick={() => open.current?.()}>
            Choose files
          </Button>
        </Stack>
      </Dropzone>
      {problem !== null && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
    </>
  );
};

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
  const publication = useChange({
    mutationFn: (options: { readonly release: Release; readonly keyId: string }): Promise<PublishedFiles> =>
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
  return { publication, progress };
};

/** Publishes a version from the files that GoReleaser writes. */
export const PublishDialog = ({ organization, onClose }: PublishDialogProps) => {
  const navigate = useNavigate();
  const { data: keys = [] } = useQuery(gpgKeysQuery(organization));
  const [release, setRelease] = useState<Release | null>(null);
  const [chosenKey, setChosenKey] = useState<string | null>(null);
  const { publication, progress } = usePublication(organization);
  const keyIds = keys.map(({ attributes }) => attributes['key-id']);
  const keyId = chosenKey ?? (keyIds.length === 1 ? (keyIds[0] ?? null) : null);
  const showProvider = (provider: string) => {
    onClose();
    void navigate({ to: '/$organization/registry/$provider', params: { organization, provider } });
  };
  const publish = () => {
    if (release === null || keyId === null) return;
    const onSuccess = ({ skippedFiles }: PublishedFiles) => {
      if (skippedFiles.length > 0) return;
      showToast({ kind: 'success', message: `${release.name} ${release.version} is uploaded.` });
      showProvider(release.name);
    };
    publication.mutate({ release, keyId }, { onSuccess });
  };
  if (publication.data && release) {
    return (
      <Dialog onClose={onClose} size="lg" title="Publish a version">
        <PublishResult release={release} files={publication.data} onOpen={() => showProvider(release.name)} />
      </Dialog>
    );
  }
  return (
    <Dialog onClose={onClose} size="lg" title="Publish a version">
      <Stack>
        <Text size="sm">
          Build and sign the release in the repository of the provider. The server checks checksums and the signature.
        </Text>
        <CodeBlock code={COMMAND} label="the build command" />
        <ReleaseDrop release={release} isBusy={publication.isPending} onRelease={setRelease} />
        <Select
          label="GPG key that signs the release"
          description={
            keyIds.length === 0 ? 'The registry has no key yet. Add it on the screen of the registry.' : null
          }
          data={keyIds}
          value={keyId}
          onChange={setChosenKey}
        />
        <PublishProblem error={publication.error} />
        {progress && <UploadProgress progress={progress} />}
        <DialogActions
          action={publication.error ? 'Try again' : 'Publish'}
          isDisabled={release === null || keyId === null}
          isPending={publication.isPending}
          // Closing stops the upload.
          cancel={publication.isPending ? 'Stop' : 'Cancel'}
          isCancelDisabled={false}
          onAction={publish}
          onClose={onClose}
        />
      </Stack>
    </Dialog>
  );
};
