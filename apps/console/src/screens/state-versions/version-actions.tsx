import { useState } from 'react';
import { saveStateFile, useChangeStateData, type StateDataChange } from '../../api/state-data.js';
import { describeChangeError } from '../../api/api-error.js';
import type { StateVersionPage } from '../../api/states.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { showToast } from '../../toasts.js';
import { useStateAccess } from './state-changes.js';
import type { ListedStateVersion, VersionAction } from './version-table.js';

const RollBackDialog = lazyComponent(() => import('./roll-back-dialog.js'), 'RollBackDialog');
const DestroyDialog = lazyComponent(() => import('./destroy-dialog.js'), 'DestroyDialog');

const NO_DELETION = 'You need a team with admin access to this workspace.';

const toFact = ({ id, attributes }: ListedStateVersion) => ({ id, serial: attributes.serial });

/** Returns the serial of the newest version that has had a file. */
const findNewestSerial = (pages: readonly StateVersionPage[]): number => {
  const hadFile = ({ attributes: { status } }: ListedStateVersion) =>
    status === 'finalized' || status.startsWith('backing_data');
  return pages.flatMap(({ data }) => data).find(hadFile)?.attributes.serial ?? 0;
};

/** Deletes or restores a file at once, and offers to undo it. */
const useStateData = (workspace: string) => {
  const change = useChangeStateData(workspace);
  const send = ({ id, serial }: ReturnType<typeof toFact>, kind: Exclude<StateDataChange, 'destroy'>): void => {
    const opposite = kind === 'delete' ? 'restore' : 'delete';
    change.mutate(
      { id, change: kind },
      {
        onSuccess: () =>
          showToast({
            kind: 'success',
            message: `The file of serial ${serial} is ${kind === 'delete' ? 'deleted' : 'restored'}.`,
            undo: () => send({ id, serial }, opposite),
          }),
        onError: (error) => showToast({ kind: 'error', message: describeChangeError(error) }),
      },
    );
  };
  return send;
};

/** Returns the actions on versions, and the dialog that is open for one of them. */
export const useVersionActions = (
  organization: string,
  workspace: WorkspaceDocument,
  pages: readonly StateVersionPage[],
) => {
  const [opened, setOpened] = useState<{
    readonly action: 'roll-back' | 'destroy';
    readonly version: ListedStateVersion;
  } | null>(null);
  const access = useStateAccess(workspace);
  const { id, attributes } = workspace.data;
  const sendData = useStateData(id);
  const onAct = (action: VersionAction, version: ListedStateVersion): void => {
    const fact = toFact(version);
    if (action === 'download') saveStateFile(fact.id, `${attributes.name}-${fact.serial}.tfstate`);
    else if (action === 'roll-back' || action === 'destroy') setOpened({ action, version });
    else sendData(fact, action);
  };
  const findRefusal = (action: VersionAction): string | undefined => {
    if (action === 'download') return undefined;
    if (action === 'roll-back') return access.isPermitted ? undefined : access.reason;
    return attributes.permissions['can-update'] ? undefined : NO_DELETION;
  };
  const close = () => setOpened(null);
  const dialog =
    opened?.action === 'destroy' ? (
      <DestroyDialog workspace={id} version={toFact(opened.version)} onClose={close} />
    ) : (
      opened && (
        <RollBackDialog
          organization={organization}
          workspace={workspace.data}
          holdsLock={access.holdsLock}
          version={toFact(opened.version)}
          newest={findNewestSerial(pages)}
          onClose={close}
        />
      )
    );
  return { onAct, findRefusal, dialog };
};
