;;; hive-agent-shell.el --- The agents of agent-shell in Hive  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Every agent in a buffer of agent-shell is in the list of Hive, and its
;; permissions can be answered in that buffer or at a desk.  `hive-mode' turns
;; this on once agent-shell is loaded; agent-shell itself is not required.
;;
;; It uses the public functions of agent-shell.  The private names that it uses
;; are in one table, `hive-agent-shell-private'; where one is missing, Hive does
;; without it.
;;
;; The closure that answers a permission answers a second time, too, if it is
;; called again.  So it is forgotten before it is called, and when the dialog
;; was answered in the buffer.

;;; Code:

(require 'cl-lib)
(require 'hive-editors)
(require 'hive-rpc)
(require 'map)
(require 'seq)

(defvar agent-shell-permission-responder-function)
(declare-function agent-shell-buffers "ext:agent-shell")
(declare-function agent-shell-get-config "ext:agent-shell")
(declare-function agent-shell-interrupt "ext:agent-shell")
(declare-function agent-shell-jump-to-latest-permission-button-row "ext:agent-shell")
(declare-function agent-shell-prompt-queue "ext:agent-shell-prompt-queue")
(declare-function agent-shell-queue-request "ext:agent-shell")
(declare-function agent-shell-subscribe-to "ext:agent-shell")
(declare-function agent-shell-unsubscribe "ext:agent-shell")

;;;; Private names of agent-shell

(defconst hive-agent-shell-private
  '((agent-shell--state "0.74.3" "the agent's own session id, its process, dialogs that were open before")
    (agent-shell--send-permission-response "0.74.3" "answers the dialogs that were open before"))
  "The private names of agent-shell that are used where they exist.
Each with the version in which it was seen, and what it is for.")

(defun hive-agent-shell--private (name)
  "Return NAME, a private name of agent-shell, if it exists here."
  (hive-editor-private name hive-agent-shell-private))

(defun hive-agent-shell--state (&rest keys)
  "Return what the state of this buffer has under KEYS, or nil."
  (let ((state (hive-agent-shell--private 'agent-shell--state)))
    (and state (boundp state)
         (ignore-errors (map-nested-elt (symbol-value state) keys)))))

(defun hive-agent-shell--pid ()
  "Return the id of the agent's process in this buffer, or nil.
Also watch the process, to notice its end."
  (let ((process (hive-agent-shell--state :client :process)))
    (when (and (processp process) (process-live-p process))
      (hive-agent-shell--watch process)
      (process-id process))))

;;;; The agent of a buffer

(defvar-local hive-agent-shell--agent nil "The agent of this buffer, a `hive-editor'.")
(defvar-local hive-agent-shell--subscription nil "The subscription to the events of this buffer.")
(defvar-local hive-agent-shell--heard nil "Non-nil if an event of this buffer has come.")
(defvar-local hive-agent-shell--keys nil
  "The open dialogs.
Each is a list of the id of its request, its key, the options, the
function that answers it, and what of it the desks show.")
(defconst hive-agent-shell--settles 0.025
  "How many seconds a permission waits before the desks get it.
An agent may ask first and describe its call in full a few milliseconds
later.  Nobody should see a question go away and come back.")
(defvar-local hive-agent-shell--later nil "Prompts that follow the one that a person is writing, oldest first.")
(defvar hive-agent-shell--count 0 "How many dialogs were offered.")

(defun hive-agent-shell--name ()
  "Return the name of the agent of this buffer."
  (or (and (fboundp 'agent-shell-get-config)
           (map-elt (ignore-errors (agent-shell-get-config (current-buffer))) :buffer-name))
      "agent-shell"))

(defun hive-agent-shell--learn ()
  "Note the session id and the process of the agent of this buffer, if known."
  (hive-editor-learn hive-agent-shell--agent
                     (hive-agent-shell--state :session :id)
                     (hive-agent-shell--pid)))

(defun hive-agent-shell--attach ()
  "Connect the agent of this buffer, once."
  (unless hive-agent-shell--agent
    (let ((id (hive-editor-new-id)))
      ;; The agent inherits these: its MCP server finds its session, and its
      ;; hooks learn that an editor shows its dialogs.
      (setq-local process-environment
                  (append (list "HIVE_EDITOR=agent-shell" (concat "HIVE_SESSION=" id))
                          process-environment))
      (setq hive-agent-shell--agent
            (hive-editor-add :id id :buffer (current-buffer)
                             :client (hive-agent-shell--name)
                             :directory default-directory
                             :client-id (hive-agent-shell--state :session :id)
                             :pid (hive-agent-shell--pid)
                             :interrupt #'hive-agent-shell--interrupt
                             :say #'hive-agent-shell--say
                             :visit #'hive-agent-shell--visit)))
    (hive-agent-shell--subscribe)
    (when (local-variable-p 'agent-shell-permission-responder-function)
      (add-function :around (local 'agent-shell-permission-responder-function)
                    #'hive-agent-shell--respond))
    (add-hook 'kill-buffer-hook #'hive-agent-shell--detach nil t)
    (hive-agent-shell--offer-pending)))

(defun hive-agent-shell--subscribe ()
  "Receive the events of this buffer.
Where the hook of its mode runs too early, as in the first 0.48.1, its
state is made again after that, and this is forgotten: see
`hive-agent-shell--permission-received'."
  (setq hive-agent-shell--subscription
        (ignore-errors
          (agent-shell-subscribe-to
           :shell-buffer (current-buffer)
           :on-event (lambda (event)
                       (hive-rpc-guarded #'hive-agent-shell--handle
                                         (map-elt event :event) (map-elt event :data)))))))

(defun hive-agent-shell--detach ()
  "Disconnect the agent of this buffer."
  (when hive-agent-shell--agent
    (remove-hook 'kill-buffer-hook #'hive-agent-shell--detach t)
    (when (local-variable-p 'agent-shell-permission-responder-function)
      (remove-function (local 'agent-shell-permission-responder-function)
                       #'hive-agent-shell--respond))
    (ignore-errors (agent-shell-unsubscribe :subscription hive-agent-shell--subscription))
    (hive-editor-remove hive-agent-shell--agent)
    (setq-local process-environment
                (cl-remove-if (lambda (variable)
                                (string-match-p "\\`HIVE_\\(EDITOR\\|SESSION\\)=" variable))
                              process-environment))
    (setq hive-agent-shell--agent nil
          hive-agent-shell--subscription nil
          hive-agent-shell--heard nil
          hive-agent-shell--later nil
          hive-agent-shell--keys nil)))

;;;; The end of its process

(defun hive-agent-shell--watch (process)
  "Note it when PROCESS, the agent of this buffer, ends."
  (unless (process-get process 'hive-agent-shell-buffer)
    (process-put process 'hive-agent-shell-buffer (current-buffer))
    ;; After its own sentinel.
    (add-function :after (process-sentinel process) #'hive-agent-shell--status)))

(defun hive-agent-shell--status (process &rest _)
  "Note that PROCESS has ended, if it has.
No event of agent-shell reports that an agent was killed."
  (unless (process-live-p process)
    (hive-rpc-guarded #'hive-call-in (process-get process 'hive-agent-shell-buffer)
                      #'hive-agent-shell--ended (process-id process))))

(defun hive-agent-shell--ended (pid)
  "Note that the process PID has ended, if it is the agent of this buffer."
  (when (and hive-agent-shell--agent (equal pid (hive-editor-pid hive-agent-shell--agent)))
    (setq hive-agent-shell--keys nil)
    (hive-editor-died hive-agent-shell--agent pid)))

;;;; Requests from Hive

(defun hive-agent-shell--interrupt ()
  "Stop the turn of this buffer.  What it asks is answered as cancelled."
  (agent-shell-interrupt t))

(defun hive-agent-shell--typing-p ()
  "Return non-nil if a person has begun to write a prompt in this buffer.
What agent-shell itself shows there cannot be changed."
  (let* ((process (get-buffer-process (current-buffer)))
         (start (and process (marker-position (process-mark process)))))
    (and start
         (not (text-property-not-all start (point-max) 'read-only nil))
         (not (string-blank-p (buffer-substring-no-properties start (point-max)))))))

(defun hive-agent-shell--say (text)
  "Give the agent of this buffer TEXT as a prompt, after its turn if it is busy.
Idle, agent-shell would send it together with what a person is writing.
Then it follows their prompt."
  (cond ((and (not (hive-editor-busy hive-agent-shell--agent)) (hive-agent-shell--typing-p))
         (setq hive-agent-shell--later (append hive-agent-shell--later (list text))))
        ((fboundp 'agent-shell-prompt-queue) (agent-shell-prompt-queue text))
        ((fboundp 'agent-shell-queue-request) (agent-shell-queue-request text))
        (t (error "This agent-shell queues no prompts"))))

(defun hive-agent-shell--visit ()
  "Go to the dialog of this buffer, if one is open."
  (when (fboundp 'agent-shell-jump-to-latest-permission-button-row)
    (agent-shell-jump-to-latest-permission-button-row)))

;;;; Permissions

(defconst hive-agent-shell--kinds
  '(("allow_once" "This once" nil t)
    ("allow_always" "From now on; the agent decides what this covers" nil nil)
    ("reject_once" "Refuse this once" t t)
    ("reject_always" "Refuse from now on" t nil))
  "The kinds of options: what each means, whether it refuses, and only once.")

(defun hive-agent-shell--option (action)
  "Return ACTION, an option of agent-shell, as `dialog/open' takes it."
  (pcase-let ((`(,description ,refuses ,once)
               (or (alist-get (map-elt action :kind) hive-agent-shell--kinds nil nil #'equal)
                   '("The agent does not say what this means" nil nil))))
    (hive-editor-option
     (map-elt action :option-id)
     ;; :label has keys and styles of agent-shell; :option is the agent's own text.
     (substring-no-properties (or (map-elt action :option) (map-elt action :label)))
     description refuses once)))

(defun hive-agent-shell--changes (tool-call)
  "Return the diffs of TOOL-CALL, as `dialog/open' takes them."
  (let ((diffs (or (map-elt tool-call :diffs)
                   (let ((diff (map-elt tool-call :diff))) (and diff (list diff))))))
    (vconcat (mapcar (lambda (diff)
                       (list :path (format "%s" (map-elt diff :file))
                             :before (map-elt diff :old)
                             :after (or (map-elt diff :new) "")))
                     (append diffs nil)))))

(defconst hive-agent-shell--shown
  '(:title :kind :raw-input :command :description :content :diff :diffs :status
    :permission-request-id :permission-actions)
  "The fields of a call that are shown separately, or irrelevant to its effect.")

(defun hive-agent-shell--parts (tool-call)
  "Return the content of TOOL-CALL as a list."
  (let ((content (map-elt tool-call :content)))
    (cond ((vectorp content) (append content nil))
          ((proper-list-p content) content)
          (t (list content)))))

(defun hive-agent-shell--text (part)
  "Return the text of PART of a content, or nil."
  (let ((text (ignore-errors (map-nested-elt part '(content text)))))
    (and (stringp text) text)))

(defun hive-agent-shell--words (tool-call)
  "Return the agent's words about TOOL-CALL besides its title."
  (string-join
   (cl-remove-if-not #'stringp
                     (cons (map-elt tool-call :description)
                           (mapcar #'hive-agent-shell--text (hive-agent-shell--parts tool-call))))
   "\n\n"))

(defun hive-agent-shell--unshown (tool-call)
  "Return what the content of TOOL-CALL has besides text and diffs.
A terminal only says where the output appears."
  (let ((known (if (seq-empty-p (hive-agent-shell--changes tool-call))
                   '("terminal")
                 '("terminal" "diff"))))
    (cl-remove-if (lambda (part)
                    (or (hive-agent-shell--text part)
                        (member (ignore-errors (map-elt part 'type)) known)))
                  (hive-agent-shell--parts tool-call))))

(defun hive-agent-shell--params (tool-call options)
  "Return the parameters of `dialog/open' for TOOL-CALL with OPTIONS."
  (let* ((raw (map-elt tool-call :raw-input))
         (command (map-elt tool-call :command))
         (input (hive-editor-input (or raw (and command `((command . ,command))))))
         (unshown (hive-agent-shell--unshown tool-call))
         (rest (append
                (cl-loop for (key . value) in (hive-agent-shell--pairs tool-call)
                         unless (or (memq key hive-agent-shell--shown) (null value))
                         collect (cons (string-remove-prefix ":" (format "%s" key)) value))
                (and unshown (list (cons "content" (vconcat unshown)))))))
    (list :kind (map-elt tool-call :kind)
          :input input
          :header (map-elt tool-call :title)
          :context (hive-agent-shell--words tool-call)
          :changes (hive-agent-shell--changes tool-call)
          :rest (if rest (hive-editor-json rest) (make-hash-table))
          :options (vconcat (mapcar #'hive-agent-shell--option options))
          :takes_notes t)))

(defun hive-agent-shell--pairs (map)
  "Return MAP, an alist or another map, as an alist without repeated keys."
  (cl-remove-duplicates (map-pairs map) :key #'car :from-end t))

(defun hive-agent-shell--label (options id)
  "Return the label of the one of OPTIONS with ID."
  (let ((option (seq-find (lambda (option) (equal id (map-elt option :option-id))) options)))
    (and option (plist-get (hive-agent-shell--option option) :label))))

(defun hive-agent-shell--offer (tool-call options respond)
  "Offer the permission of TOOL-CALL with OPTIONS at the desks.
RESPOND answers it with the id of an option."
  (let* ((params (hive-agent-shell--params tool-call options))
         (key (format "%s %s" (hive-editor-id hive-agent-shell--agent)
                      (cl-incf hive-agent-shell--count)))
         (open (list (map-elt tool-call :permission-request-id) key options respond params)))
    (hive-editor-begin hive-agent-shell--agent)
    (push open hive-agent-shell--keys)
    (hive-later hive-agent-shell--settles
                #'hive-rpc-guarded #'hive-call-in (current-buffer) #'hive-agent-shell--open open)))

(defun hive-agent-shell--open (open)
  "Give the desks OPEN, a dialog of this buffer, if it still waits."
  (when (memq open hive-agent-shell--keys)
    (pcase-let ((`(,request ,key ,_options ,respond ,params) open))
      (hive-editor-open hive-agent-shell--agent key params
                        (lambda (answer) (hive-agent-shell--answer request respond answer))))))

(defun hive-agent-shell--answer (request respond answer)
  "Answer REQUEST with ANSWER of a desk, through RESPOND."
  ;; Before it is called: if it fails, the request still waits, and is offered again.
  (setq hive-agent-shell--keys (assoc-delete-all request hive-agent-shell--keys))
  (let ((note (plist-get answer :note)))
    (if (equal (plist-get answer :kind) "chosen")
        (save-excursion (funcall respond (plist-get answer :option_id)))
      ;; The agent offers no way to say no.
      (hive-agent-shell--interrupt))
    (when (and note (not (string-blank-p note))) (hive-agent-shell--say note))))

(defun hive-agent-shell--respond (theirs permission)
  "Offer PERMISSION at the desks, unless THEIRS answers it.
THEIRS is the user's own responder, or nil.  Return nil where it is
offered, so that its dialog is shown."
  (or (and (functionp theirs) (funcall theirs permission))
      (progn
        (hive-rpc-guarded #'hive-agent-shell--permission-received permission)
        nil)))

(defun hive-agent-shell--permission-received (permission)
  "Offer PERMISSION, the argument of a responder."
  (when (derived-mode-p 'agent-shell-mode)
    (hive-agent-shell--attach)
    (unless hive-agent-shell--heard (hive-agent-shell--subscribe))
    (hive-agent-shell--learn)
    (hive-agent-shell--offer (map-elt permission :tool-call) (map-elt permission :options)
                             (map-elt permission :respond))))

(defun hive-agent-shell--offer-pending ()
  "Offer the permissions of this buffer that were open before."
  (when (hive-agent-shell--private 'agent-shell--send-permission-response)
    (map-do
     (lambda (id tool-call)
       (let ((request (map-elt tool-call :permission-request-id))
             (options (map-elt tool-call :permission-actions)))
         (when (and request options (not (assoc request hive-agent-shell--keys)))
           (hive-agent-shell--offer tool-call options (hive-agent-shell--sender id request)))))
     (hive-agent-shell--state :tool-calls))))

(defun hive-agent-shell--described (tool-call)
  "Ask again for the permission of TOOL-CALL if the desks show something else.
An answer to the earlier text does not count for the new one."
  (let* ((request (map-elt tool-call :permission-request-id))
         (open (and request (assoc request hive-agent-shell--keys))))
    (pcase-let ((`(,_request ,key ,options ,respond ,params) open)
                (print-length nil) (print-level nil))
      ;; Two hash tables are never `equal'.
      (when (and open
                 (not (member (map-elt tool-call :status) '("completed" "failed")))
                 (not (equal (prin1-to-string params)
                             (prin1-to-string (hive-agent-shell--params tool-call options)))))
        (setq hive-agent-shell--keys (delq open hive-agent-shell--keys))
        (hive-editor-close key "withdrawn")
        (hive-agent-shell--offer tool-call options respond)))))

(defun hive-agent-shell--sender (id request)
  "Return a function that answers REQUEST of the call ID with an option's id."
  (lambda (option-id)
    (funcall (hive-agent-shell--private 'agent-shell--send-permission-response)
             :client (hive-agent-shell--state :client)
             :request-id request
             :option-id option-id
             :state (symbol-value (hive-agent-shell--private 'agent-shell--state))
             :tool-call-id id)))

;;;; Events

(defun hive-agent-shell--handle (event data)
  "Handle EVENT, a symbol, with DATA."
  (setq hive-agent-shell--heard t)
  (when hive-agent-shell--agent
    (pcase event
      ((or 'prompt-ready 'init-finished 'init-session) (hive-agent-shell--learn))
      ('session-selected
       (when (map-elt data :session-id)
         (hive-editor-learn hive-agent-shell--agent (map-elt data :session-id) nil)))
      ('input-submitted
       (hive-agent-shell--learn)
       (hive-editor-begin hive-agent-shell--agent)
       ;; By then agent-shell is busy, and queues them.
       (while hive-agent-shell--later
         (hive-rpc-later #'hive-call-in (current-buffer) #'hive-agent-shell--say (pop hive-agent-shell--later))))
      ('tool-call-update
       (hive-editor-begin hive-agent-shell--agent)
       (hive-agent-shell--described (map-elt data :tool-call)))
      ;; This is news only if the user's own responder has replaced ours.
      ('permission-request (hive-agent-shell--offer-pending))
      ('permission-response (hive-agent-shell--answered-here data))
      ('turn-complete (hive-agent-shell--over (map-elt data :stop-reason)))
      ('error (hive-agent-shell--over "error"))
      ('clean-up (hive-agent-shell--over "clean_up")))))

(defun hive-agent-shell--answered-here (data)
  "Withdraw the dialog that was answered according to DATA, of an event."
  (when-let* ((open (assoc (map-elt data :request-id) hive-agent-shell--keys)))
    (setq hive-agent-shell--keys (delq open hive-agent-shell--keys))
    (pcase-let ((`(,_request ,key ,options . ,_) open))
      (if (map-elt data :cancelled)
          (hive-editor-close key "interrupted")
        (hive-editor-close key "answered_elsewhere"
                           (hive-agent-shell--label options (map-elt data :option-id)))))))

(defun hive-agent-shell--over (reason)
  "Note that the turn of this buffer is over for REASON, and its dialogs with it."
  (setq hive-agent-shell--keys nil)
  (hive-editor-end hive-agent-shell--agent reason))

;;;; On and off

(defun hive-agent-shell--buffers ()
  "Return the buffers of agent-shell."
  (if (fboundp 'agent-shell-buffers) (agent-shell-buffers)
    (cl-remove-if-not (lambda (buffer)
                        (with-current-buffer buffer (derived-mode-p 'agent-shell-mode)))
                      (buffer-list))))

(defun hive-agent-shell-connect ()
  "Connect the agents of all buffers of agent-shell, and of later ones."
  (if (not (and (fboundp 'agent-shell-subscribe-to)
                (boundp 'agent-shell-permission-responder-function)))
      (hive-rpc-log "this agent-shell is too old for Hive; 0.48.1 is the oldest")
    (add-function :around (default-value 'agent-shell-permission-responder-function)
                  #'hive-agent-shell--respond)
    (add-hook 'agent-shell-mode-hook #'hive-agent-shell--attach)
    (dolist (buffer (hive-agent-shell--buffers))
      (with-current-buffer buffer (hive-agent-shell--attach)))))

(defun hive-agent-shell-disconnect ()
  "Disconnect every agent of agent-shell."
  (remove-hook 'agent-shell-mode-hook #'hive-agent-shell--attach)
  (when (boundp 'agent-shell-permission-responder-function)
    (remove-function (default-value 'agent-shell-permission-responder-function)
                     #'hive-agent-shell--respond))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (hive-agent-shell--detach))))

(provide 'hive-agent-shell)
;;; hive-agent-shell.el ends here
