import { openSession } from '../data/api.js';
import { Field, Form, type Answers } from '../parts/form.js';
import { Failure } from '../parts/states.js';
import { Title } from '../parts/title.js';
import { t } from '../words/words.js';

type SignInProps = {
  /** Why a one-time code did not open the console. */
  readonly error: unknown;
};

export function SignIn({ error }: SignInProps) {
  const send = async ({ email = '', password = '' }: Answers): Promise<void> => {
    await openSession({ email, password });
  };
  return (
    <main class="sign-in">
      <Title of={t('sign_in')} />
      <Failure error={error} />
      <Form submit={t('sign_in')} send={send}>
        <Field label={t('email')} name="email" type="email" autocomplete="username" />
        <Field
          label={t('password')}
          name="password"
          type="password"
          autocomplete="current-password"
        />
      </Form>
      <p class="quiet">{t('sign_in_hint')}</p>
    </main>
  );
}
