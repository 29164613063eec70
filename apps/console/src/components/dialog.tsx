import { Modal, type ModalProps } from '@mantine/core';
import { useIsMutating, useQueryClient } from '@tanstack/react-query';
import { isSignInDemanded } from '../api/session.js';
import { createContext, use, useCallback, useEffect, useRef, useState } from 'react';
import { useFocusReturn } from './focus-return.js';
import { promptToLeave, useUnsavedGuard, useUnsavedPrompt } from './unsaved.js';

/** Reports to the dialog whether a form in it has something that is not saved. */
const UnsavedContext = createContext<((isUnsaved: boolean) => void) | null>(null);

/** Asks before the dialog around a form closes, or another screen replaces it. The form's own buttons close it at once. */
export const useDialogGuard = (isUnsaved: boolean): void => {
  const report = use(UnsavedContext);
  useUnsavedGuard(isUnsaved);
  useEffect(() => {
    report?.(isUnsaved);
    return () => report?.(false);
  }, [report, isUnsaved]);
};

type DialogProps = Omit<ModalProps, 'opened'> & {
  /** Only its own buttons close it, because what it shows, or is about to show, cannot be shown again. */
  readonly isLocked?: boolean;
};

/** A dialog that is open while it is on the screen. It stays until a change is answered, because it shows the refusal. */
export const Dialog = ({ isLocked = false, onClose, children, ...props }: DialogProps) => {
  useFocusReturn();
  const queries = useQueryClient();
  const unsaved = useRef(false);
  const report = useCallback((isUnsaved: boolean) => void (unsaved.current = isUnsaved), []);
  const isChanging = useIsMutating() > 0;
  // A prompt above this dialog gets the Escape key first.
  const [hasOlderPrompt] = useState(useUnsavedPrompt() !== null);
  const isCovered = useUnsavedPrompt() !== null && !hasOlderPrompt;
  const close = () => {
    // A key can arrive before the screen shows that the change is on its way.
    if (queries.isMutating() > 0 || isSignInDemanded()) return;
    if (unsaved.current) promptToLeave(onClose);
    else onClose();
  };
  return (
    <Modal
      opened
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isLocked && !isCovered}
      closeOnEscape={!isLocked && !isCovered}
      withCloseButton={!isLocked && !isChanging}
      onClose={close}
      {...props}
    >
      <UnsavedContext value={report}>{children}</UnsavedContext>
    </Modal>
  );
};
