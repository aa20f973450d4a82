import { t } from '../words/words.js';
import { Dialog } from './form.js';

/** A secret that is shown once. */
export function Secret({ text, close }: { text: string; close: () => void }) {
  return (
    <Dialog title={t('secret_once')} close={close}>
      <p>{t('secret_hint')}</p>
      <pre tabIndex={0}>{text}</pre>
      <form method="dialog" class="buttons">
        <button class="main">{t('close')}</button>
      </form>
    </Dialog>
  );
}
