import { Body, Delete, Extension, Post, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { accepted, HttpFailure } from '../../edge/http-failure.js';
import { contextOf } from '../../edge/request-context.js';
import { tenantToDto } from '../../declarations/platform/tenant.js';
import { userToDto } from '../../declarations/platform/user.resource.js';
import {
  tokenToDto,
  type ChangePasswordBody,
  type OpenSessionBody,
  type SessionDto,
  type LogInBody,
  type SignedInDto,
  type SignedUpDto,
  type SignUpBody,
} from './auth-dto.js';
import { logIn, WRONG } from './log-in.js';
import { changePassword } from './change-password.js';
import { openSession, sessionToDto } from './open-session.js';
import { signUp, type AuthDependencies, type SignedIn } from './sign-up.js';
import type { MessageDto } from '../../records/record-dto.js';
import type { Refusal } from '../../records/refusal.js';

@Route('v1/auth')
@Tags('Sign-in')
export class AuthController extends ApiController<AuthDependencies> {
  /**
   * Makes a tenant with an environment for production and one for development, and its first
   * super_admin.
   * @summary Sign up
   */
  @Post('signup')
  @Extension('x-operation', { public: true, taken: true })
  @SuccessResponse(201, 'Created')
  public async signUp(@Body() body: SignUpBody): Promise<SignedUpDto> {
    const { requestId } = contextOf(this.request);
    const { user, token } = accepted(await signUp(this.dependencies, { requestId }, body));
    const { row, tenant } = user;
    const answered = userToDto(row, { tenant, environmentId: null });
    return { ...tokenToDto(token), user: answered, tenant: tenantToDto(tenant) };
  }

  /**
   * The token lives for 24 hours. It counts as much as the user does at the time of a request.
   * After ten wrong passwords in 15 minutes an account has to wait.
   * @summary Sign in
   */
  @Post('login')
  @Extension('x-operation', { public: true })
  public async logIn(@Body() body: LogInBody): Promise<SignedInDto> {
    const attempt = () => logIn(this.dependencies, body);
    return this.answerOf(await this.guess(body.email, attempt), body.environment_id);
  }

  /**
   * For whoever knows the present one. Tokens that were issued before are refused from then on; API
   * keys stay.
   * @summary Change your password
   */
  @Post('password')
  @Extension('x-operation', { public: true })
  public async changePassword(@Body() body: ChangePasswordBody): Promise<SignedInDto> {
    const { requestId } = contextOf(this.request);
    const attempt = () => changePassword(this.dependencies, { requestId }, body);
    return this.answerOf(await this.guess(body.email, attempt));
  }

  /**
   * Opens a session of the console: the answer sets its cookie, which no script can read. The
   * session lives for 24 hours, and permits what its user may do at the time of a request.
   * @summary Open a session of the console
   */
  @Post('session')
  @Extension('x-operation', { public: true })
  @SuccessResponse(201, 'Created')
  public async openSession(@Body() body: OpenSessionBody): Promise<SessionDto> {
    const { sessions } = this.dependencies;
    const attempt = () => openSession(this.dependencies, body);
    const opened = await this.guess(body.email ?? '', attempt);
    this.setStatus(201);
    this.setHeader('Set-Cookie', sessions.cookieFor(opened.session));
    return sessionToDto(opened);
  }

  /**
   * Ends the session of the cookie at once, and takes the cookie away. Without a session, nothing
   * happens.
   * @summary End your session of the console
   */
  @Delete('session')
  @Extension('x-operation', { public: true })
  public async closeSession(): Promise<MessageDto> {
    const { sessions } = this.dependencies;
    if (sessions.isShown(this.request) && !sessions.isFromOwnPage(this.request)) {
      const message = 'a session of the console is ended from pages of the console only';
      throw new HttpFailure(403, 'permission_denied', { message });
    }
    await sessions.close(this.request);
    this.setHeader('Set-Cookie', sessions.cookieFor(null));
    return { message: 'you are signed out' };
  }

  /** Makes an attempt that must know a secret, within the bound of its account. */
  private async guess<T>(
    email: string,
    attempt: () => Promise<T | Refusal | typeof WRONG>,
  ): Promise<T> {
    const { guesses, clientAddressOf } = this.dependencies;
    const guess = { email, clientAddress: clientAddressOf(this.request) };
    const retryAfterSeconds = guesses.waitSeconds(guess);
    if (retryAfterSeconds > 0) {
      const message = 'too many wrong passwords for this account: wait, and try again';
      throw new HttpFailure(429, 'too_many_requests', { message, retryAfterSeconds });
    }
    guesses.begin(guess);
    const signedIn = await attempt();
    if (signedIn === WRONG) {
      const message =
        email === ''
          ? 'the code is unknown, used or expired: start Minutebook again for another'
          : 'the e-mail address or the password is wrong';
      throw new HttpFailure(401, 'permission_denied', { message });
    }
    guesses.noteRight(guess);
    return accepted(signedIn);
  }

  private answerOf({ user, token }: SignedIn, environmentId: string | null = null): SignedInDto {
    return { ...tokenToDto(token), user: userToDto(user.row, { ...user, environmentId }) };
  }
}
