;;; hive-editors.el --- The agents of other packages in this Emacs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Packages such as agent-shell and ECA show agents in buffers of their own,
;; with dialogs of their own.  While `hive-mode' is on, these agents are also
;; in the list of Hive, and their dialogs can be answered in either place; the
;; first answer wins.
;;
;; This file has what all packages share: the agents, their dialogs, and the
;; connection with the sidecar.  One file for each package says how its buffers
;; work: hive-agent-shell, hive-eca.
;;
;; Everything is kept here, so that a restarted sidecar can be given it again.
;; A dialog that the sidecar does not know yet can be answered in its buffer.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-rpc)
(require 'hive-terminal)
(require 'hive-text)

(defcustom hive-editors '(agent-shell eca)
  "The packages whose agents are in Hive, too.
A change takes effect when `hive-mode' is turned on the next time."
  :type '(set (const agent-shell) (const eca))
  :group 'hive)

;;;; The agents

(cl-defstruct (hive-editor (:constructor hive-editors--make) (:copier nil))
  "An agent that another package shows."
  (id nil :documentation "Its id in Hive.")
  (buffer nil :documentation "The buffer that shows it.")
  (client nil :documentation "The name of the agent.")
  (directory nil :documentation "Where it works.")
  (client-id nil :documentation "The agent's own id of the conversation, or nil.")
  (pid nil :documentation "The id of its process, or nil.")
  (busy nil :documentation "Non-nil while a turn runs.")
  (gone nil :documentation "Non-nil if its process has ended, and no other was seen.")
  (interrupt nil :documentation "Function that stops the turn.")
  (say nil :documentation "Function that gives the agent a prompt.")
  (visit nil :documentation "Function that goes to its dialog, in its buffer."))

(defvar hive-editors--agents (make-hash-table :test #'equal) "The agents, by id.")

(defun hive-editor-new-id ()
  "Return a new id for an agent."
  (concat "editor-" (hive-rpc-new-id)))

(defun hive-editors--tell (method params &optional success)
  "Send the request METHOD with PARAMS if the sidecar is there.
Call SUCCESS with the result."
  (when (hive-sidecar-connected-p)
    (hive-rpc-request method params :success success)))

(defun hive-editors--introduce (agent)
  "Introduce AGENT to the sidecar.  While it works, begin its turn, too."
  (setf (hive-editor-gone agent) nil)
  (hive-editors--tell 'session/introduce
                      (list :session_id (hive-editor-id agent)
                            :client (hive-editor-client agent)
                            :directory (expand-file-name (hive-editor-directory agent))
                            :client_session_id (hive-editor-client-id agent)
                            :pid (hive-editor-pid agent)))
  (when (hive-editor-busy agent)
    (hive-editors--tell 'turn/begin (list :session_id (hive-editor-id agent)))))

(defun hive-editor-add (&rest slots)
  "Add an agent with SLOTS of `hive-editor', and return it."
  (let ((agent (apply #'hive-editors--make slots)))
    (puthash (hive-editor-id agent) agent hive-editors--agents)
    (hive-editors--introduce agent)
    agent))

(defun hive-editor-learn (agent client-id pid)
  "Note the CLIENT-ID and the PID of AGENT, each unless it is nil."
  (let ((new-id (or client-id (hive-editor-client-id agent)))
        (new-pid (or pid (hive-editor-pid agent))))
    (unless (and (equal new-id (hive-editor-client-id agent))
                 (equal new-pid (hive-editor-pid agent)))
      (setf (hive-editor-client-id agent) new-id
            (hive-editor-pid agent) new-pid)
      (hive-editors--introduce agent))))

(defun hive-editor-begin (agent)
  "Note that AGENT begins a turn."
  (when (hive-editor-gone agent) (hive-editors--introduce agent))
  (unless (hive-editor-busy agent)
    (setf (hive-editor-busy agent) t)
    (hive-editors--tell 'turn/begin (list :session_id (hive-editor-id agent)))))

(defun hive-editor-end (agent reason)
  "Note that the turn of AGENT has ended for REASON, a string or nil.
Its dialogs are withdrawn."
  (hive-editors--forget-dialogs agent)
  (when (hive-editor-busy agent)
    (setf (hive-editor-busy agent) nil)
    (hive-editors--tell 'turn/end (list :session_id (hive-editor-id agent)
                                        :stop_reason reason))))

(defun hive-editor-remove (agent)
  "Remove AGENT, with all its dialogs."
  (when (gethash (hive-editor-id agent) hive-editors--agents)
    (hive-editors--forget-dialogs agent)
    (remhash (hive-editor-id agent) hive-editors--agents)
    (hive-editors--tell 'session/end (list :session_id (hive-editor-id agent)))))

(defun hive-editor-died (agent pid)
  "Note that the process of AGENT with PID has ended, and its session with it.
Its buffer stays, and may start another process."
  (when (and (gethash (hive-editor-id agent) hive-editors--agents)
             (equal pid (hive-editor-pid agent)))
    (hive-editors--forget-dialogs agent)
    (setf (hive-editor-busy agent) nil
          (hive-editor-pid agent) nil
          (hive-editor-gone agent) t)
    (hive-editors--tell 'session/end (list :session_id (hive-editor-id agent)))))

(defun hive-editors-known ()
  "Return the agents."
  (hash-table-values hive-editors--agents))

;;;; Their dialogs

(cl-defstruct (hive-editors--dialog (:copier nil))
  "A dialog that waits in the buffer of an agent."
  key agent params
  (answer nil :documentation "Function that gives the agent the answer of a desk."))

(defvar hive-editors--dialogs (make-hash-table :test #'equal) "The open dialogs, by key.")

(defun hive-editors--offer (dialog)
  "Offer DIALOG at the desks."
  (let ((key (hive-editors--dialog-key dialog)))
    (hive-editors--tell
     'dialog/open
     (append (list :session_id (hive-editor-id (hive-editors--dialog-agent dialog)) :key key)
             (hive-editors--dialog-params dialog))
     (lambda (result)
       (when-let* ((answer (plist-get result :answer)))
         (hive-editors--answered key answer))))))

(defun hive-editor-open (agent key params answer)
  "Offer a dialog of AGENT at the desks, with PARAMS of `dialog/open'.
KEY is its unique name.  ANSWER is called once in the buffer of AGENT,
with the answer of a desk, a plist, unless the dialog is closed before."
  (let ((dialog (make-hive-editors--dialog :key key :agent agent :params params :answer answer)))
    (puthash key dialog hive-editors--dialogs)
    (hive-editors--offer dialog)))

(defun hive-editor-close (key reason &optional decision)
  "Note that the dialog KEY no longer waits, for REASON, a string.
DECISION is what was answered in its buffer."
  (when (gethash key hive-editors--dialogs)
    (remhash key hive-editors--dialogs)
    (hive-editors--tell 'dialog/close (list :key key :reason reason :decision decision))))

(defun hive-editors--forget-dialogs (agent)
  "Withdraw every dialog of AGENT."
  (dolist (dialog (hash-table-values hive-editors--dialogs))
    (when (eq agent (hive-editors--dialog-agent dialog))
      (hive-editor-close (hive-editors--dialog-key dialog) "withdrawn"))))

(defun hive-editors--answered (key answer)
  "Give the agent the ANSWER of a desk to the dialog KEY, once."
  (when-let* ((dialog (gethash key hive-editors--dialogs)))
    ;; Answering calls back; by then this dialog must already be closed.
    (remhash key hive-editors--dialogs)
    (condition-case oops
        (progn (hive-call-in (hive-editor-buffer (hive-editors--dialog-agent dialog))
                             (hive-editors--dialog-answer dialog) answer)
               (hive-editors--tell 'dialog/handed (list :key key)))
      (error
       (hive-rpc-log "the answer to %s could not be given: %S" key oops)
       (hive-announce
        "Hive could not give the answer to %s; its buffer shows whether the dialog is still open"
        (hive-text-line (hive-editor-client (hive-editors--dialog-agent dialog))
                        40))))))

(cl-defmethod hive-rpc-handle ((_method (eql 'dialog/answered)) params)
  "Give an agent the answer of a desk, in PARAMS."
  (hive-editors--answered (plist-get params :key) (plist-get params :answer)))

;;;; Requests from Hive

(defun hive-editors--call (params slot &rest args)
  "Call the function in SLOT of the agent of PARAMS with ARGS, in its buffer."
  (let* ((agent (gethash (plist-get params :session_id) hive-editors--agents))
         (function (and agent (cl-struct-slot-value 'hive-editor slot agent)))
         (buffer (and agent (hive-editor-buffer agent))))
    (when (and function (buffer-live-p buffer))
      (save-window-excursion
        (with-current-buffer buffer (apply function args))))))

(cl-defmethod hive-rpc-handle ((_method (eql 'session/interrupt)) params)
  "Stop the turn of the agent in PARAMS."
  (hive-editors--call params 'interrupt))

(cl-defmethod hive-rpc-handle ((_method (eql 'session/wake)) params)
  "Give the agent in PARAMS the text in them as a prompt."
  (hive-editors--call params 'say (plist-get params :text)))

;;;; Going to an agent

(defun hive-editors--of-session (session-id)
  "Return the agent whose id, in Hive or its own, is SESSION-ID, or nil."
  (or (gethash session-id hive-editors--agents)
      (cl-find session-id (hive-editors-known) :key #'hive-editor-client-id :test #'equal)))

(defun hive-editors--buffer (session-id)
  "Return the buffer of the agent with SESSION-ID, or nil."
  (let* ((agent (hive-editors--of-session session-id))
         (buffer (and agent (hive-editor-buffer agent))))
    (and (buffer-live-p buffer) buffer)))

(defun hive-editors--visited ()
  "Go to the dialog of the agent of this buffer."
  (let ((agent (cl-find (current-buffer) (hive-editors-known) :key #'hive-editor-buffer)))
    (when (and agent (hive-editor-visit agent))
      (funcall (hive-editor-visit agent)))))

(add-hook 'hive-agent-buffer-functions #'hive-editors--buffer)
(add-hook 'hive-agent-visited-hook #'hive-editors--visited)

;;;; JSON

(defun hive-editor-json (value)
  "Return VALUE, JSON that was read into alists and vectors, as requests take it.
What was read as nil stays null.  No key loses more than the colon of
a plist; otherwise an agent could have one argument displayed in place
of another."
  (cond ((hash-table-p value)
         (let ((table (make-hash-table :test #'equal)))
           (maphash (lambda (key item) (puthash (format "%s" key) (hive-editor-json item) table))
                    value)
           table))
        ((vectorp value) (vconcat (mapcar #'hive-editor-json value)))
        ((and (consp value) (keywordp (car value)))
         (hive-editor-json (cl-loop for (key item) on value by #'cddr
                                    collect (cons (substring (symbol-name key) 1) item))))
        ((and (consp value) (proper-list-p value)
              (cl-every (lambda (item) (and (consp item) (or (symbolp (car item)) (stringp (car item)))))
                        value))
         (let ((table (make-hash-table :test #'equal)))
           (pcase-dolist (`(,key . ,item) value)
             (puthash (format "%s" key) (hive-editor-json item) table))
           table))
        ((and (consp value) (proper-list-p value)) (vconcat (mapcar #'hive-editor-json value)))
        ((memq value '(:false :json-false)) :json-false)
        ((memq value '(nil :null)) nil)
        ((or (eq value t) (numberp value)) value)
        (t (format "%s" value))))

(defun hive-editor-input (value)
  "Return VALUE, the input of a call as it was read, as `dialog/open' takes it.
A value that is not an object is shown as the field `input' of one."
  (let ((input (hive-editor-json value)))
    (cond ((hash-table-p input) input)
          ((null input) (make-hash-table))
          (t (hive-editor-json `((input . ,value)))))))

;;;; Shared by the files of the packages

(defun hive-editor-private (name table)
  "Return NAME, a private name of a package, if it exists here.
TABLE is that of the private names of the package."
  (unless (assq name table) (error "Not in the table: %s" name))
  (and (or (boundp name) (fboundp name)) name))

(defun hive-editor-option (id label description refuses once)
  "Return an option as `dialog/open' takes it, with ID, LABEL and DESCRIPTION.
REFUSES and ONCE say whether it does not allow, and holds only once."
  (list :id id :label label :description description
        :refuses (if refuses t :json-false) :once (if once t :json-false)))

;;;; On and off

(defconst hive-editors--packages
  '((agent-shell hive-agent-shell hive-agent-shell-connect hive-agent-shell-disconnect)
    (eca hive-eca hive-eca-connect hive-eca-disconnect))
  "Each package, with the library that connects it, and how.")

(defvar hive-editors--on nil "Non-nil while agents are connected.")

(defvar hive-editors--connections nil "The packages that are connected.")

(defun hive-editors--loaded (package)
  "Connect the agents of PACKAGE, which has been loaded, once."
  (when (and hive-editors--on (memq package hive-editors)
             (not (memq package hive-editors--connections)))
    (pcase-let ((`(,library ,connect ,_) (alist-get package hive-editors--packages)))
      (hive-rpc-guarded (lambda ()
                          (require library)
                          (push package hive-editors--connections)
                          (funcall connect))))))

(defun hive-editors-start ()
  "Connect the agents of the packages in `hive-editors', once they are loaded."
  (setq hive-editors--on t)
  (pcase-dolist (`(,package . ,_) hive-editors--packages)
    (with-eval-after-load package (hive-editors--loaded package))))

(defun hive-editors-stop ()
  "Disconnect all agents.  Their buffers work as without Hive."
  (setq hive-editors--on nil)
  (while hive-editors--connections
    (pcase-let ((`(,_ ,_ ,disconnect)
                 (alist-get (pop hive-editors--connections) hive-editors--packages)))
      (hive-rpc-guarded disconnect)))
  (clrhash hive-editors--dialogs)
  (clrhash hive-editors--agents))

(defun hive-editors--connected ()
  "Tell a new sidecar of every agent and every open dialog."
  (mapc #'hive-editors--introduce (cl-remove-if #'hive-editor-gone (hive-editors-known)))
  (mapc #'hive-editors--offer (hash-table-values hive-editors--dialogs)))

(add-hook 'hive-connected-hook #'hive-editors--connected)

(provide 'hive-editors)
;;; hive-editors.el ends here
