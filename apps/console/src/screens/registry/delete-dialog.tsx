import { useDeleteFromRegistry, type RegistryTarget } from '../../api/registry.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useDeletionReport } from '../../components/use-deletion-report.js';
import { reportAndClose } from '../../toasts.js';

/** Returns what the person types, and what the deletion means. */
const describeTarget = (
  target: RegistryTarget,
): { readonly typed: string; readonly title: string; readonly effect: string } => {
  switch (target.kind) {
    case 'provider':
      return {
        typed: target.name,
        title: `Delete the provider ${target.name}`,
        effect:
          'All its versions and files are deleted with it. Configurations that require it can no longer be initialized. If the site keeps deleted resources, you can recover it.',
      };
    case 'version':
      return {
        typed: target.version,
        title: `Delete ${target.name} ${target.version}`,
        effect: 'Its files are deleted. Configurations that require this version can no longer be initialized.',
      };
    case 'key':
      return {
        typed: target.keyId,
        title: `Delete the key ${target.keyId}`,
        effect: 'Nobody can install what the key has signed any more.',
      };
  }
};

type DeleteDialogProps = {
  readonly organization: string;
  readonly target: RegistryTarget;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
};

/** Deletes something after the person has typed its name. */
export const DeleteDialog = ({ organization, target, onClose, onDeleted }: DeleteDialogProps) => {
  const { typed, title, effect } = describeTarget(target);
  const deletion = useDeleteFromRegistry(organization);
  const report = useDeletionReport(organization);
  const close = () => {
    onClose();
    onDeleted?.();
  };
  const reportProvider = async (id: string) => {
    await report(id, { deleted: `${typed} is deleted.`, recovered: `${typed} is back.` });
    close();
  };
  const callbacks =
    target.kind === 'provider'
      ? { onSuccess: () => void reportProvider(target.id) }
      : reportAndClose(`${typed} is deleted.`, close);
  return (
    <ConfirmDialog
      title={title}
      action="Delete"
      typed={typed}
      change={deletion}
      onConfirm={() => deletion.mutate(target, callbacks)}
      onClose={onClose}
    >
      {effect}
    </ConfirmDialog>
  );
};
