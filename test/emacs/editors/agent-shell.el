;;; agent-shell.el --- A stand-in for agent-shell  -*- lexical-binding: t; -*-

;;; Commentary:

;; It has the functions, variables and events that contracts/agent-shell.json
;; names, with their arguments and in their order, and no others.  Behind them
;; is no agent: a test says what the agent does (`stand-in-…').  What would be
;; sent to the agent is in `stand-in-sent'.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'map)
(require 'seq)

(defconst stand-in-contract
  (with-temp-buffer
    (insert-file-contents
     (expand-file-name "contracts/agent-shell.json"
                       (file-name-directory (or load-file-name buffer-file-name))))
    (json-parse-buffer :object-type 'alist :array-type 'list))
  "The contract.")

(defvar stand-in-sent nil "What was sent to agents, newest first: buffer, then what.")

;;;; State, of which only its name and these keys are in the contract

(defvar-local agent-shell--state nil "The state of a shell, an alist.")
(defvar-local stand-in--subscriptions nil "Conses of a token and a list of event and function.")
(defvar-local stand-in--queue nil "The prompts that wait for the end of the turn, oldest first.")
(defvar stand-in--tokens 0 "The last token.")

(define-derived-mode agent-shell-mode fundamental-mode "Agent-Shell"
  "A shell buffer.")

(defvar agent-shell-permission-responder-function nil
  "Called before the dialog of a permission is shown.")

(defun stand-in--get (&rest keys)
  "Return what is under KEYS in the state of this buffer."
  (map-nested-elt agent-shell--state keys))

(defun stand-in--put (value &rest keys)
  "Put VALUE under KEYS, at most two, in the state of this buffer."
  (if (cdr keys)
      (setf (alist-get (cadr keys) (alist-get (car keys) agent-shell--state) nil nil #'equal) value)
    (setf (alist-get (car keys) agent-shell--state) value)))

(defun stand-in--send (&rest what)
  "Send WHAT to the agent of this buffer, and to its process if it has one."
  (let ((process (stand-in--get :client :process)))
    (when (or (stand-in--get :dead) (and process (not (process-live-p process))))
      (error "The agent has ended"))
    (when process (process-send-string process (format "%S\n" what))))
  (push (cons (current-buffer) what) stand-in-sent))

(defun stand-in--emit (event &rest data)
  "Emit EVENT with DATA, a plist that has what the contract says and nothing else."
  (let ((declared (mapcar #'intern (map-nested-elt stand-in-contract (list 'events event))))
        (given (cl-loop for (key) on data by #'cddr collect key)))
    (unless (assq event (alist-get 'events stand-in-contract)) (error "No such event: %s" event))
    (unless (equal declared given) (error "%s has %s, not %s" event declared given))
    (let ((alist (append (list (cons :event event))
                         (and data (list (cons :data (cl-loop for (key value) on data by #'cddr
                                                              collect (cons key value))))))))
      (pcase-dolist (`(,_token ,only ,function) (copy-sequence stand-in--subscriptions))
        (when (or (null only) (eq only event)) (funcall function alist))))))

(defun stand-in--steps (name functions)
  "Do the steps that the contract has for NAME, in its order; FUNCTIONS does each.
A step that returns `stop' is the last one."
  (let ((steps (mapcar #'intern (map-nested-elt stand-in-contract (list 'order name)))))
    (unless (equal (sort (copy-sequence steps) #'string<)
                   (sort (mapcar #'car functions) #'string<))
      (error "The steps of %s are %s" name steps))
    (cl-loop for step in steps
             until (eq 'stop (funcall (alist-get step functions))))))

;;;; The functions of the contract

(defun stand-in--agent-shell-buffers ()
  "Return the shell buffers."
  (cl-remove-if-not (lambda (buffer)
                      (eq 'agent-shell-mode (buffer-local-value 'major-mode buffer)))
                    (buffer-list)))

(defun stand-in--agent-shell-get-config (buffer)
  "Return the configuration of BUFFER."
  (with-current-buffer buffer (stand-in--get :agent-config)))

(defun stand-in--agent-shell-subscribe-to (shell-buffer event on-event)
  "Call ON-EVENT for each EVENT of SHELL-BUFFER."
  (with-current-buffer shell-buffer
    (push (list (cl-incf stand-in--tokens) event on-event) stand-in--subscriptions)
    stand-in--tokens))

(defun stand-in--agent-shell-unsubscribe (subscription)
  "End SUBSCRIPTION."
  (setq stand-in--subscriptions (assq-delete-all subscription stand-in--subscriptions)))

(defun stand-in--pending ()
  "Return the pending permissions of this buffer: conses of an id and a call."
  (cl-remove-if-not (lambda (entry) (map-elt (cdr entry) :permission-request-id))
                    (stand-in--get :tool-calls)))

(defun stand-in--agent-shell-status (shell-buffer)
  "Return the status of SHELL-BUFFER."
  (with-current-buffer (or shell-buffer (current-buffer))
    (cond ((not (stand-in--get :busy)) 'ready)
          ((stand-in--pending) 'blocked)
          (t 'busy))))

(defun stand-in--agent-shell-interrupt (force)
  "Interrupt the turn of this buffer, with FORCE."
  (unless force (error "It would ask"))
  (stand-in--steps
   'interrupted
   `((answer-pending-as-cancelled
      . ,(lambda ()
           (pcase-dolist (`(,id . ,call) (stand-in--pending))
             (agent-shell--send-permission-response
              :request-id (map-elt call :permission-request-id) :cancelled t
              :state agent-shell--state :tool-call-id id))))
     (send-cancel . ,(lambda () (stand-in--send 'cancel))))))

(defun stand-in--agent-shell-prompt-queue (prompt)
  "Send PROMPT to the agent of this buffer, or keep it until the turn has ended."
  (if (stand-in--get :busy) (setq stand-in--queue (append stand-in--queue (list prompt)))
    (stand-in-submit prompt)))

(defun stand-in--agent-shell-jump-to-latest-permission-button-row ()
  "Go to the newest dialog of this buffer."
  (let ((found (save-excursion (goto-char (point-max)) (search-backward "[dialog " nil t))))
    (when found (goto-char found) t)))

(cl-defun agent-shell--send-permission-response
    (&key _client request-id option-id cancelled state tool-call-id _message-text)
  "Answer REQUEST-ID of TOOL-CALL-ID with OPTION-ID, or as CANCELLED; STATE is the shell's.
It answers as often as it is called."
  (with-current-buffer (map-elt state :buffer)
    (stand-in--steps
     'answered
     `((send . ,(lambda () (stand-in--send 'answer request-id (if cancelled 'cancelled option-id))))
       (no-dialog . ,(lambda ()
                       (stand-in--put (assq-delete-all :permission-request-id
                                                       (copy-alist (stand-in--get :tool-calls tool-call-id)))
                                      :tool-calls tool-call-id)
                       (save-excursion
                         (goto-char (point-min))
                         (when (search-forward (format "[dialog %s]\n" request-id) nil t)
                           (replace-match "")))))
       (permission-response . ,(lambda ()
                                 (stand-in--emit 'permission-response :request-id request-id
                                                 :tool-call-id tool-call-id :option-id option-id
                                                 :cancelled cancelled)))))
    ;; Like the real one, it moves the point of its own buffer.
    (goto-char (point-max))))

(pcase-dolist (`(,name . ,facts) (alist-get 'functions stand-in-contract))
  (let* ((arguments (read (alist-get 'arguments facts)))
         (variables (cl-remove-if (lambda (one) (memq one '(&key &optional))) arguments))
         (body (intern (concat "stand-in--" (symbol-name name)))))
    (unless (fboundp body) (error "The stand-in lacks %s" name))
    (eval `(cl-defun ,name ,arguments ,(alist-get 'does facts) (,body ,@variables)) t)))

;;;; Acts of the agent and its person in a test

(defun stand-in-start (name &optional client-id process)
  "Return a new shell buffer of the agent NAME, whose conversation is CLIENT-ID.
PROCESS is the agent, if a test needs one."
  (let ((buffer (generate-new-buffer (format "%s Agent @ demo" name))))
    (with-current-buffer buffer
      ;; Its hook runs once the state is there.
      (delay-mode-hooks (agent-shell-mode))
      (setq agent-shell--state
            (list (cons :buffer buffer) (cons :client (list (cons :process process)))
                  (cons :agent-config (list (cons :buffer-name name)))
                  (cons :session (list (cons :id nil))) (cons :tool-calls nil) (cons :busy nil)))
      (add-hook 'kill-buffer-hook
                (lambda () (stand-in--steps 'killed `((clean-up . ,(lambda () (stand-in--emit 'clean-up))))))
                nil t)
      (run-mode-hooks)
      (stand-in--put (list (cons :id client-id)) :session)
      (stand-in--steps 'started
                       `((init-finished . ,(lambda () (stand-in--emit 'init-finished)))
                         (prompt-ready . ,(lambda () (stand-in--emit 'prompt-ready))))))
    buffer))

(defun stand-in-submit (text)
  "Submit TEXT as the prompt of this buffer: a turn begins."
  (stand-in--put t :busy)
  (stand-in--send 'prompt text)
  (stand-in--emit 'input-submitted))

(defun stand-in-complete (stop-reason)
  "End the turn of this buffer for STOP-REASON."
  (stand-in--put nil :busy)
  (stand-in--put nil :tool-calls)
  (stand-in--emit 'turn-complete :stop-reason stop-reason :usage nil)
  ;; After a turn that was cancelled, the queue waits.
  (unless (equal stop-reason "cancelled")
    (let ((next (pop stand-in--queue)))
      (when next (stand-in-submit next)))))

(defun stand-in-fail ()
  "Report an error of the agent of this buffer, which ends."
  (stand-in--put t :dead)
  (stand-in--emit 'error :code -32603 :message "It has ended"))

(defconst stand-in-options
  '(("always" "Always Allow" "allow_always" "!") ("once" "Allow" "allow_once" "y")
    ("no" "Reject" "reject_once" "n"))
  "The options of a permission: id, text, kind and key.")

(defun stand-in--actions ()
  "Return `stand-in-options' as agent-shell has them."
  (mapcar (lambda (option)
            (pcase-let ((`(,id ,text ,kind ,char) option))
              (let ((values (list (cons :char char) (cons :kind kind)
                                  (cons :label (format "%s (%s)" text char))
                                  (cons :option text) (cons :option-id id))))
                (unless (equal (sort (mapcar (lambda (one) (symbol-name (car one))) values) #'string<)
                               (alist-get 'option stand-in-contract))
                  (error "An option has %s" (alist-get 'option stand-in-contract)))
                values)))
          stand-in-options))

(defun stand-in-ask (request-id input &rest fields)
  "Ask for the permission REQUEST-ID of a command with INPUT in this buffer.
FIELDS, an alist, are more of the call."
  (let* ((id (format "call-%s" request-id))
         (call (append fields
                       (list (cons :title "Build the project") (cons :kind "execute")
                             (cons :raw-input input) (cons :permission-request-id request-id)
                             (cons :permission-actions (stand-in--actions)))))
         (state agent-shell--state))
    (stand-in--put call :tool-calls id)
    (stand-in--steps
     'asked
     `((responder
        . ,(lambda ()
             (when (and (functionp agent-shell-permission-responder-function)
                        (funcall agent-shell-permission-responder-function
                                 (list (cons :tool-call call)
                                       (cons :options (stand-in--actions))
                                       (cons :respond
                                             (lambda (option-id)
                                               (agent-shell--send-permission-response
                                                :request-id request-id :option-id option-id
                                                :state state :tool-call-id id)
                                               t)))))
               'stop)))
       (dialog . ,(lambda ()
                    (save-excursion (goto-char (point-max))
                                    (insert (format "[dialog %s]\n" request-id)))))
       (permission-request . ,(lambda ()
                                (stand-in--emit 'permission-request :request-id request-id
                                                :tool-call-id id :tool-call call)))))))

(defun stand-in-describe (request-id &rest fields)
  "Describe the call of REQUEST-ID in this buffer anew, with FIELDS, an alist."
  (let* ((id (format "call-%s" request-id))
         (call (append fields (stand-in--get :tool-calls id))))
    (stand-in--put call :tool-calls id)
    (stand-in--emit 'tool-call-update :tool-call-id id :tool-call call)))

(defun stand-in-press (request-id option-id)
  "Answer the dialog REQUEST-ID of this buffer with OPTION-ID, as its person.
As in the real one, a refusal also interrupts the turn."
  (agent-shell--send-permission-response
   :request-id request-id :option-id option-id :state agent-shell--state
   :tool-call-id (format "call-%s" request-id))
  (when (equal option-id "no") (agent-shell-interrupt t)))

(defun stand-in-dialogs ()
  "Return how many dialogs this buffer shows."
  (how-many "^\\[dialog " (point-min) (point-max)))

(provide 'agent-shell)
;;; agent-shell.el ends here
