import { Modal, type ModalProps } from '@mantine/core';
import { useIsMutating, useQueryClient } from '@tanstack/react-query';
import { isSignInDemanded } from '../api/session.js';
import { useState } from 'react';
import { useFocusReturn } from './focus-return.js';
import { useUnsavedPrompt } from './unsaved.js';

type DialogProps = Omit<ModalProps, 'opened'> & {
  /** Only its own buttons close it, because what it shows, or is about to show, cannot be shown again. */
  readonly isLocked?: boolean;
};

/** A dialog that is open while it is on the screen. It stays until a change is answered, because it shows the refusal. */
export const Dialog = ({ isLocked = false, onClose, ...props }: DialogProps) => {
  useFocusReturn();
  const queries = useQueryClient();
  const isChanging = useIsMutating() > 0;
  // A prompt above this dialog gets the Escape key first.
  const [hasOlderPrompt] = useState(useUnsavedPrompt() !== null);
  const isCovered = useUnsavedPrompt() !== null && !hasOlderPrompt;
  const close = () => {
    // A key can arrive before the screen shows that the change is on its way.
    if (queries.isMutating() === 0 && !isSignInDemanded()) onClose();
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
    />
  );
};
