;;; eca.el --- A stand-in for ECA  -*- lexical-binding: t; -*-

;;; Commentary:

;; It has the functions that contracts/eca.json names, with their arguments,
;; and no others.  Behind them is no server: a test says what the server sends
;; (`stand-in-…'), and what would be sent to it is in `stand-in-sent'.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'map)

(defconst stand-in-contract
  (with-temp-buffer
    (insert-file-contents
     (expand-file-name "contracts/eca.json"
                       (file-name-directory (or load-file-name buffer-file-name))))
    (json-parse-buffer :object-type 'alist :array-type 'list))
  "The contract.")

(defvar stand-in-sent nil "What was sent to the server, newest first.")
(defvar eca-chat-session-status-changed-functions nil "Called with a session that may have changed.")
(defvar-local eca-chat--id nil "The id of the chat of this buffer.")
(defvar-local stand-in--question nil "The pending question: session and request.")
(defvar-local stand-in--approvals nil "The ids of the calls that wait for an approval.")
(defvar-local stand-in--running nil "Non-nil while a turn runs.")

(defun stand-in--changed (session)
  "Note that the status of SESSION may have changed."
  (run-hook-with-args 'eca-chat-session-status-changed-functions session))

(defun stand-in--eca-api-notify (_session method params)
  "Send METHOD with PARAMS."
  (push (list 'notify method params) stand-in-sent))

(defun stand-in--eca-api-send-request-response (_session request response)
  "Answer REQUEST with RESPONSE."
  (push (list 'respond (plist-get request :id) response) stand-in-sent))

(defun stand-in--eca-chat-buffers (session)
  "Return the buffers of SESSION, an id and its buffers."
  (cl-remove-if-not #'buffer-live-p (cdr session)))

(defun stand-in--eca-chat-status (buffer)
  "Return the status of BUFFER."
  (with-current-buffer buffer
    (cond (stand-in--approvals 'waiting-approval) (stand-in--question 'waiting-answer)
          (stand-in--running 'running) (t 'idle))))

(defvar-local stand-in-welcome t "Non-nil until this chat has had a prompt.")

(defun eca-chat--prompt-field-start-point ()
  "Return where the text of the prompt begins, or nil."
  (save-excursion
    (goto-char (point-min))
    (when (search-forward "> " nil t) (point))))

(defun eca-chat--set-prompt (text)
  "Replace what the prompt of this chat contains by TEXT."
  (goto-char (eca-chat--prompt-field-start-point))
  (delete-region (point) (point-max))
  (insert text))

(defun stand-in--clear ()
  "Erase this chat, and make a new prompt."
  (erase-buffer)
  (insert "> "))

(defun stand-in--eca-chat-send-prompt (prompt)
  "Send PROMPT."
  (when stand-in-welcome (stand-in--clear))
  (setq stand-in-welcome nil)
  (eca-chat--set-prompt "")
  (push (list 'prompt eca-chat--id prompt) stand-in-sent))

(defun stand-in--eca-delete-session (_session)
  "Forget a session."
  nil)

(defun stand-in--in (session chat-id function)
  "Call FUNCTION in the buffer of SESSION with CHAT-ID."
  (dolist (buffer (eca-chat-buffers session))
    (with-current-buffer buffer
      (when (equal chat-id eca-chat--id) (funcall function)))))

(defun stand-in--eca-chat-content-received (session params)
  "Show content of SESSION with PARAMS, which has what the contract says."
  (let* ((content (plist-get params :content))
         (type (plist-get content :type)) (id (plist-get content :id)))
    (unless (equal (map-nested-elt stand-in-contract (list 'content (intern type)))
                   (cl-loop for (key) on content by #'cddr collect (symbol-name key)))
      (error "%s is not of the contract: %S" type content))
    (stand-in--in session (or (plist-get params :parentChatId) (plist-get params :chatId))
                  (lambda ()
                    (pcase type
                      ("toolCallRun" (when (plist-get content :manualApproval)
                                       (push id stand-in--approvals)))
                      ("progress" (setq stand-in--running
                                        (equal "running" (plist-get content :state))))
                      (_ (setq stand-in--approvals (delete id stand-in--approvals))))))
    (stand-in--changed session)))

(defun stand-in--eca-chat-handle-ask-question (session request params)
  "Show the question REQUEST of SESSION with PARAMS."
  (stand-in--in session (plist-get params :chatId)
                (lambda () (setq stand-in--question (cons session request))))
  (stand-in--changed session)
  :async)

(defun stand-in--settle (response)
  "Answer the question of this buffer with RESPONSE."
  (pcase-let ((`(,session . ,request) stand-in--question))
    (setq stand-in--question nil)
    (eca-api-send-request-response session request response)
    (stand-in--changed session)))

(defun eca-chat--answer-question (answer)
  "Answer the question of this buffer with ANSWER."
  (when stand-in--question
    (eca-chat--set-prompt "")
    (stand-in--settle (list :answer answer :cancelled :json-false))))

(defun eca-chat--cancel-question ()
  "Decline the question of this buffer."
  (when stand-in--question (stand-in--settle (list :answer nil :cancelled t))))

(pcase-dolist (`(,name . ,facts) (alist-get 'functions stand-in-contract))
  (let* ((arguments (read (alist-get 'arguments facts)))
         (variables (cl-remove-if (lambda (one) (memq one '(&key &optional))) arguments))
         (body (intern (concat "stand-in--" (symbol-name name)))))
    (unless (fboundp body) (error "The stand-in lacks %s" name))
    (eval `(cl-defun ,name ,arguments ,(alist-get 'does facts) (,body ,@variables)) t)))

;;;; Acts of the server in a test

(defun stand-in-start (&rest ids)
  "Return a session with a chat for each of IDS."
  (cons 1 (mapcar (lambda (id)
                    (with-current-buffer (generate-new-buffer (format "<eca:%s>" id))
                      (setq eca-chat--id id)
                      (insert "Welcome\n> ")
                      (current-buffer)))
                  ids)))

(defvar stand-in-parent nil "The chat whose subagent sends the content, or nil.")

(defun stand-in-content (session chat-id type &rest content)
  "Let the server of SESSION send CONTENT of TYPE for CHAT-ID."
  (eca-chat-content-received session
                             `(:chatId ,chat-id :role "assistant"
                               ,@(and stand-in-parent (list :parentChatId stand-in-parent))
                               :content (:type ,type ,@content))))

(defun stand-in-run (session chat-id id &optional manual)
  "Let the agent of CHAT-ID in SESSION run the call ID; MANUAL if it needs an approval."
  (stand-in-content session chat-id "toolCallRun" :id id :name "shell_command" :server "eca"
                    :arguments '(:command "make") :manualApproval manual
                    :summary "Build the project"
                    :details '(:type "shellCommand" :commands [(:command "make" :approvalKey "make")])))

(defun stand-in-settled (session chat-id id type)
  "Let the server of SESSION say TYPE of the call ID of CHAT-ID."
  (stand-in-content session chat-id type :id id :name "shell_command" :server "eca"))

(provide 'eca)
;;; eca.el ends here
